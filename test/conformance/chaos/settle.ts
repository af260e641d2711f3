/**
 * After the last fault (L1): how long it takes until every pod and every status is right, and whether
 * Rollcall then stays quiet.
 *
 * Asked by plain lists, straight from the API server. The clock runs from the last fault on,
 * and stands still only while all that is wrong waits for the garbage collectors of kube-controller-manager, which
 * take a minute for the pods of a node that is gone. Quiet means: not one write under the functions' identity in the
 * audit log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';
import { readAuditRecords, type AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { listAll } from '../control-plane/watch.ts';
import { readPod, type PodRecord } from '../control-plane/observed-records.ts';
import { belongs, mayStay, partOf, type Site } from './cast.ts';
import { versionOf } from './churn.ts';

interface World {
  readonly nodes: readonly KubernetesObject[];
  readonly daemonSets: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
}

interface Wrong {
  readonly what: string;
  /** For the garbage collectors. */
  readonly isWaiting: boolean;
}

/** How what is left of a DaemonSet is described. */
const OWNERLESS = 'of a DaemonSet that is gone';

/** What is wrong now; nothing when all is settled. */
function findWrong({ nodes, daemonSets, pods }: World): readonly Wrong[] {
  const sites = new Map(nodes.map((node) => [node.metadata.name, siteOf(node)]));
  const all = pods.map(readPod);
  const records = all.filter(({ node = '' }) => sites.has(node));
  const wrong: Wrong[] = [];
  for (const daemonSet of daemonSets) {
    const isOwn = (pod: PodRecord): boolean => pod.daemonSetUid === daemonSet.metadata.uid;
    const isWithoutSurge = partOf(daemonSet.metadata.name).maxSurge === 0;
    const isHeld =
      isWithoutSurge && all.some((pod) => isOwn(pod) && pod.isBound && !sites.has(pod.node ?? ''));
    const surroundings = { sites, own: records.filter(isOwn), isHeld };
    wrong.push(...wrongPods(daemonSet, surroundings), ...wrongStatus(daemonSet, surroundings));
  }
  const owners = new Set(daemonSets.map(({ metadata }) => metadata.uid));
  const strays = records.filter(({ daemonSetUid = '' }) => !owners.has(daemonSetUid));
  if (strays.length > 0) {
    wrong.push({
      what: `${String(strays.length)} pods of DaemonSets that are gone`,
      isWaiting: true,
    });
  }
  return wrong;
}

/** Pods that are the garbage collectors' to delete. */
function findUncollected({ nodes, daemonSets, pods }: World): readonly string[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const owners = new Set(daemonSets.map(({ metadata }) => metadata.uid));
  return pods.map(readPod).flatMap((pod) => {
    const { name, node = '', daemonSetUid = '' } = pod;
    if (pod.isBound && !names.has(node)) return [`${name} of ${node}`];
    return owners.has(daemonSetUid) ? [] : [`${name} ${OWNERLESS}`];
  });
}

interface Surroundings {
  readonly sites: ReadonlyMap<string, Site>;
  readonly own: readonly PodRecord[];
  /** Whether its rollout waits for pods of nodes that are gone. */
  readonly isHeld: boolean;
}

function wrongPods(
  daemonSet: KubernetesObject,
  { sites, own, isHeld }: Surroundings,
): readonly Wrong[] {
  const { name } = daemonSet.metadata;
  const { version } = versionOf(daemonSet);
  const byNode = Map.groupBy(own, ({ node = '' }) => node);
  return [...sites].flatMap(([node, site]) => {
    const pods = byNode.get(node) ?? [];
    const is = wrongOn({ name, version, site, pods });
    return is === undefined
      ? []
      : [{ what: `${name} on ${node}: ${is}`, isWaiting: isHeld && is === OLD_POD }];
  });
}

const OLD_POD = 'an old pod';

interface Place {
  readonly name: string;
  readonly version: string;
  readonly site: Site;
  readonly pods: readonly PodRecord[];
}

function wrongOn({ name, version, site, pods }: Place): string | undefined {
  const [pod] = pods;
  const isPlace = belongs(name, site);
  if (pods.length > 1) return `${String(pods.length)} pods`;
  if (pod === undefined) return isPlace ? 'no pod' : undefined;
  if (!mayStay(name, site)) return 'a pod that may not stay';
  if (pod.isDeleting || pod.isTerminal) return `${pod.phase}, going`;
  if (!isPlace) return undefined;
  if (!pod.isReady) return 'not ready';
  return pod.labels['version'] === version ? undefined : OLD_POD;
}

function wrongStatus(
  daemonSet: KubernetesObject,
  { sites, isHeld }: Surroundings,
): readonly Wrong[] {
  const { name, generation } = daemonSet.metadata;
  const desired = [...sites.values()].filter((site) => belongs(name, site)).length;
  const wanted: Readonly<Record<string, number | undefined>> = {
    observedGeneration: generation,
    desiredNumberScheduled: desired,
    currentNumberScheduled: desired,
    updatedNumberScheduled: desired,
    numberReady: desired,
    numberAvailable: desired,
    numberUnavailable: undefined,
  };
  const status = (daemonSet['status'] ?? {}) as Readonly<Record<string, number | undefined>>;
  return Object.entries(wanted)
    .filter(([field, value]) => (status[field] ?? 0) !== (value ?? 0))
    .map(([field, value]) => ({
      what: `${name}: ${field} ${String(status[field])}, not ${String(value ?? 0)}`,
      isWaiting: isHeld && field === 'updatedNumberScheduled',
    }));
}

function siteOf(node: KubernetesObject): Site {
  const { taints = [] } = node['spec'] as { readonly taints?: readonly { readonly key: string }[] };
  return { labels: node.metadata.labels ?? {}, taintKeys: taints.map(({ key }) => key) };
}

const LOOK_MS = 500;
/** What is written after the status is right (outcomes, trimmed history) has been, when nothing came for so long. */
const CALM_MS = 8_000;
const READING = new Set(['get', 'list', 'watch']);

async function readWorld(admin: ApiClient): Promise<World> {
  const [nodes, daemonSets, pods] = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  return { nodes: nodes.items, daemonSets: daemonSets.items, pods: pods.items };
}

/**
 * Waits until no pod is left whose node or DaemonSet is gone; resolves to what is left at the deadline, or when the
 * pods of DaemonSets that are gone have not become fewer for so long.
 */
export async function waitUntilCollected(
  admin: ApiClient,
  { deadlineMs, ownerlessMsMax }: { readonly deadlineMs: number; readonly ownerlessMsMax: number },
): Promise<{ readonly tookMs: number; readonly left: readonly string[] }> {
  const fromMs = performance.now();
  let ownerless = Number.POSITIVE_INFINITY;
  let fewerAtMs = fromMs;
  for (;;) {
    const left = await readWorld(admin).then(findUncollected).catch(askedInVain);
    const nowMs = performance.now();
    const count = left.filter((one) => one.endsWith(OWNERLESS)).length;
    if (count < ownerless || count === 0) fewerAtMs = nowMs;
    ownerless = count;
    const isOver = nowMs - fromMs > deadlineMs || nowMs - fewerAtMs > ownerlessMsMax;
    if (left.length === 0 || isOver) return { tookMs: nowMs - fromMs, left };
    await delay(LOOK_MS);
  }
}

/** A question may fail, on a connection that a killed server left behind: then nothing is known to be right. */
function askedInVain(error: unknown): readonly string[] {
  return [`asked in vain: ${String(error)}`];
}

export interface Settled {
  /** In which something was wrong that waited for no collector. */
  readonly tookMs: number;
  /** Empty when all is right. */
  readonly wrong: readonly string[];
}

/** Waits until all is settled, or until it has taken longer than that, or is told to end. */
export async function waitUntilSettled(
  admin: ApiClient,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal?: AbortSignal },
): Promise<Settled> {
  const clock = createSettleClock(performance.now());
  for (;;) {
    const wrong = await readWorld(admin)
      .then(findWrong)
      .catch((error: unknown) =>
        askedInVain(error).map((what): Wrong => ({ what, isWaiting: false })),
      );
    clock.note(wrong, performance.now());
    const isOver = clock.tookMs() > deadlineMs || signal?.aborted === true;
    if (wrong.length === 0 || isOver) {
      return { tookMs: clock.tookMs(), wrong: wrong.map(({ what }) => what) };
    }
    await delay(LOOK_MS);
  }
}

/** Adds up the time between looks, but for that before a look at which all that is wrong waits for a collector. */
function createSettleClock(fromMs: number): {
  readonly note: (wrong: readonly Wrong[], nowMs: number) => void;
  readonly tookMs: () => number;
} {
  let lastMs = fromMs;
  let tookMs = 0;
  return {
    note: (wrong, nowMs) => {
      const isExcused = wrong.length > 0 && wrong.every(({ isWaiting }) => isWaiting);
      if (!isExcused) tookMs += nowMs - lastMs;
      lastMs = nowMs;
    },
    tookMs: () => tookMs,
  };
}

/**
 * Watches for writes of Rollcall for so long; there should be none. Tells since when (rest.ts counts what else was done). The last ones may come a moment after all is
 * right, as long as they come within what is left of the time in which everything must settle.
 */
export async function watchQuiet(
  auditLogPath: string,
  { quietMs, leftMs }: { readonly quietMs: number; readonly leftMs: number },
): Promise<{ readonly sinceMs: number; readonly writes: readonly AuditRecord[] }> {
  const writesSince = (sinceMs: number): Promise<readonly AuditRecord[]> =>
    readAuditRecords(auditLogPath, {
      user: userNameOf('functions'),
      sinceMs,
      where: ({ verb }) => !READING.has(verb),
    });
  const endsAtMs = Date.now() + leftMs;
  do await delay(CALM_MS);
  while (Date.now() < endsAtMs && (await writesSince(Date.now() - CALM_MS)).length > 0);
  const sinceMs = Date.now();
  await delay(quietMs);
  return { sinceMs, writes: await writesSince(sinceMs) };
}
