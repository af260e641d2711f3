/**
 * What is wrong with pods and statuses in a world that should be settled (L1), by plain lists alone. Pure.
 *
 * Pods of nodes or of DaemonSets that are gone are the garbage collectors' of kube-controller-manager. A rolling update
 * without surge waits for the former, which count as unavailable (spec 2.9): an old pod beside them is wrong, but
 * nothing that Rollcall could change. Whatever else is wrong waits for nobody.
 */
import type { KubernetesObject } from '../control-plane/api.ts';
import { readPod, type PodRecord } from '../control-plane/observed-records.ts';
import { belongs, mayStay, partOf, type Site } from './cast.ts';
import { versionOf } from './churn.ts';

export interface World {
  readonly nodes: readonly KubernetesObject[];
  readonly daemonSets: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
}

export interface Wrong {
  readonly what: string;
  /** For the garbage collectors. */
  readonly isWaiting: boolean;
}

/** How what is left of a DaemonSet is described. */
export const OWNERLESS = 'of a DaemonSet that is gone';

/** What is wrong now; nothing when all is settled. */
export function findWrong({ nodes, daemonSets, pods }: World): readonly Wrong[] {
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
export function findUncollected({ nodes, daemonSets, pods }: World): readonly string[] {
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
