/**
 * After the last fault (L1): how long it takes until every pod and every status is right, and whether
 * Rollcall then stays quiet.
 *
 * Asked by plain lists, straight from the API server. Pods of nodes that are gone are the garbage
 * collector's, which takes a minute for them by itself; they are overlooked, but a rollout waits for them
 * (spec 2.9), so the time begins when it has collected them. Quiet means: not one write under the
 * functions' identity in the audit log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';
import { readAuditRecords } from '../control-plane/audit.ts';
import type { AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { readPod } from '../control-plane/observed-records.ts';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { listAll } from '../control-plane/watch.ts';
import { belongs, mayStay } from './cast.ts';
import type { Site } from './cast.ts';
import { versionOf } from './churn.ts';

const LOOK_MS = 500;
/** What is written after the status is right (outcomes, trimmed history) has been, when nothing came for so long. */
const CALM_MS = 8_000;
const OWNERLESS = 'of a DaemonSet that is gone';
const READING = new Set(['get', 'list', 'watch']);

/** What is wrong now; nothing when all is settled. */
async function findUnsettled(admin: ApiClient): Promise<readonly string[]> {
  const [nodes, daemonSets, pods] = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  const sites = new Map(nodes.items.map((node) => [node.metadata.name, siteOf(node)]));
  const records = pods.items.map(readPod).filter(({ node = '' }) => sites.has(node));
  const wrong: string[] = [];
  for (const daemonSet of daemonSets.items) {
    const own = records.filter((pod) => pod.daemonSetUid === daemonSet.metadata.uid);
    wrong.push(...wrongPods(daemonSet, { sites, own }), ...wrongStatus(daemonSet, sites));
  }
  const owners = new Set(daemonSets.items.map(({ metadata }) => metadata.uid));
  const strays = records.filter(({ daemonSetUid = '' }) => !owners.has(daemonSetUid));
  if (strays.length > 0) wrong.push(`${String(strays.length)} pods of DaemonSets that are gone`);
  return wrong;
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
    const left = await findUncollected(admin).catch(askedInVain);
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

/** Pods that are the garbage collectors' to delete. */
async function findUncollected(admin: ApiClient): Promise<readonly string[]> {
  const [nodes, daemonSets, pods] = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  const names = new Set(nodes.items.map(({ metadata }) => metadata.name));
  const owners = new Set(daemonSets.items.map(({ metadata }) => metadata.uid));
  return pods.items.map(readPod).flatMap((pod) => {
    const { name, node = '', daemonSetUid = '' } = pod;
    if (pod.isBound && !names.has(node)) return [`${name} of ${node}`];
    return owners.has(daemonSetUid) ? [] : [`${name} ${OWNERLESS}`];
  });
}

/** Waits until all is settled; resolves to the time it took, or to what was wrong at the deadline. */
export async function waitUntilSettled(
  admin: ApiClient,
  deadlineMs: number,
): Promise<{ readonly tookMs: number; readonly wrong: readonly string[] }> {
  const fromMs = performance.now();
  for (;;) {
    const wrong = await findUnsettled(admin).catch(askedInVain);
    const tookMs = performance.now() - fromMs;
    if (wrong.length === 0 || tookMs > deadlineMs) return { tookMs, wrong };
    await delay(LOOK_MS);
  }
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

interface Surroundings {
  readonly sites: ReadonlyMap<string, Site>;
  readonly own: readonly PodRecord[];
}

function wrongPods(daemonSet: KubernetesObject, { sites, own }: Surroundings): string[] {
  const { name } = daemonSet.metadata;
  const { version } = versionOf(daemonSet);
  const wrong: string[] = [];
  const byNode = Map.groupBy(own, ({ node = '' }) => node);
  for (const [node, site] of sites) {
    const pods = byNode.get(node) ?? [];
    const [pod] = pods;
    if (pods.length > 1) wrong.push(`${name} on ${node}: ${String(pods.length)} pods`);
    else if (pod === undefined) {
      if (belongs(name, site)) wrong.push(`${name} on ${node}: no pod`);
    } else if (!mayStay(name, site)) wrong.push(`${name} on ${node}: a pod that may not stay`);
    else if (pod.isDeleting || pod.isTerminal)
      wrong.push(`${name} on ${node}: ${pod.phase}, going`);
    else if (belongs(name, site)) {
      if (!pod.isReady) wrong.push(`${name} on ${node}: not ready`);
      else if (pod.labels['version'] !== version) wrong.push(`${name} on ${node}: an old pod`);
    }
  }
  return wrong;
}

function wrongStatus(daemonSet: KubernetesObject, sites: ReadonlyMap<string, Site>): string[] {
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
    .map(
      ([field, value]) => `${name}: ${field} ${String(status[field])}, not ${String(value ?? 0)}`,
    );
}

function siteOf(node: KubernetesObject): Site {
  const { taints = [] } = node['spec'] as { readonly taints?: readonly { readonly key: string }[] };
  return { labels: node.metadata.labels ?? {}, taintKeys: taints.map(({ key }) => key) };
}
