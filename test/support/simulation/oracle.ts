/**
 * What the pods of a simulated cluster must be once it is at rest, written without the core.
 *
 * Exactly one pod of the current template on each node that should run one; with OnDelete, of any. A pod that its
 * DaemonSet does not select any more is let go. Under a policy every rollout is over by then.
 * Knows as much of placement as the simulation's objects use: nodeSelector, taints and tolerations
 * with Exists and Equal. `keep` allows a pod and demands none (spec 2.5).
 */
import type { KubernetesObject, Taint, Toleration } from '@rollcall/base/objects.ts';
import { hasSentinelName } from '../../../src/core/may-act/takeover-sentinel.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';

/** Differences between what is and what should be; empty once the cluster is exact. */
export function differences(
  api: SimulatedApiServer,
  isRolled: (set: KubernetesObject) => boolean = isRolling,
): readonly string[] {
  const found: string[] = [];
  const sets = api.list('daemonsets').filter(({ metadata }) => !hasSentinelName(metadata));
  const uids = new Set(sets.map((set) => set.metadata.uid));
  for (const set of sets) {
    if (set.metadata.deletionTimestamp !== undefined) {
      found.push(`${set.metadata.name} is still being deleted`);
      continue;
    }
    found.push(...differencesOf(api, set, isRolled(set)));
  }
  for (const pod of api.list('pods')) {
    const owners = pod.metadata.ownerReferences ?? [];
    const isLeft = owners.some(({ kind, uid }) => kind === 'DaemonSet' && !uids.has(uid));
    if (isLeft) found.push(`${pod.metadata.name} has no owner`);
  }
  return found;
}

function differencesOf(
  api: SimulatedApiServer,
  set: KubernetesObject,
  isRolled: boolean,
): readonly string[] {
  const { name, uid, generation } = set.metadata;
  const pods = api.list('pods').filter((pod) => controllerUid(pod) === uid);
  const nodes = api.list('nodes');
  const desired = nodes.filter((node) => placementOf(set, node) === 'run').length;
  const found = [
    ...nodes.flatMap((node) => differencesOn(node, set, pods)),
    ...pods.flatMap((pod) => troubleOf(pod, nodes)),
    ...pods.flatMap((pod) => unreleasedOf(pod, set)),
    // Where no node should run a pod, a percentage of none replaces nothing: what a taint keeps stays old (spec 2.9).
    ...(isRolled && desired > 0
      ? pods.flatMap((pod) => (isKeptBack(api, pod, set) ? [] : outdatedOf(api, pod, set)))
      : []),
    ...surplusOf(api, set, pods),
  ];
  const status = (set['status'] ?? {}) as Record<string, unknown>;
  const counts = Object.entries(countersOf(api, set, pods));
  const isTrue = counts.every(([counter, count]) => status[counter] === count);
  if (!isTrue || status['observedGeneration'] !== generation) {
    found.push(`${name}: status ${JSON.stringify(status)}, desired ${desired} of ${generation}`);
  }
  return found;
}

/** Every counter of the status (spec 2.12), where each node has the one pod that it should have. */
function countersOf(
  api: SimulatedApiServer,
  set: KubernetesObject,
  pods: readonly KubernetesObject[],
): Readonly<Record<string, number>> {
  const nodesOf = (placements: readonly string[]): ReadonlySet<string> =>
    new Set(
      api
        .list('nodes')
        .filter((node) => placements.includes(placementOf(set, node)))
        .map(({ metadata }) => metadata.name),
    );
  const countOn = (of: readonly KubernetesObject[], nodes: ReadonlySet<string>): number =>
    of.filter((pod) => nodes.has(nodeOf(pod) ?? '')).length;
  const wanted = nodesOf(['run']);
  const hash = currentHashOf(api, set);
  return {
    desiredNumberScheduled: wanted.size,
    currentNumberScheduled: countOn(pods, wanted),
    numberMisscheduled: countOn(pods, nodesOf(['keep', 'leave'])),
    updatedNumberScheduled: countOn(
      pods.filter((pod) => hashOf(pod) === hash),
      wanted,
    ),
    numberReady: wanted.size,
    // With minReadySeconds and a clock that is off, pods become available late, without any event.
    numberAvailable: wanted.size,
    numberUnavailable: 0,
  };
}

/** Hash of the newest revision: at rest it is the one of the present template (spec 2.10). */
function currentHashOf(api: SimulatedApiServer, set: KubernetesObject): string | undefined {
  const numberOf = (revision: KubernetesObject): number => Number(revision['revision']);
  const owned = revisionsOf(api, set).toSorted((left, right) => numberOf(left) - numberOf(right));
  const newest = owned.at(-1);
  return newest === undefined ? undefined : hashOf(newest);
}

function revisionsOf(
  api: SimulatedApiServer,
  { metadata }: KubernetesObject,
): readonly KubernetesObject[] {
  return api
    .list('controllerrevisions')
    .filter((revision) => controllerUid(revision) === metadata.uid);
}

function hashOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.labels?.['controller-revision-hash'];
}

/** Beside a built-in controller those that opt in are rolled as well (copilot). */
export function isRolledInCopilot(set: KubernetesObject): boolean {
  return isRolling(set) || isStaged(set);
}

function isRolling(set: KubernetesObject): boolean {
  const { updateStrategy } = set['spec'] as {
    readonly updateStrategy?: { readonly type?: string };
  };
  return updateStrategy?.type !== 'OnDelete';
}

/**
 * Besides the current revision, old ones up to the limit, and beyond it those that pods were made of: with OnDelete,
 * or where a taint keeps an old pod on a node that should run none (spec 2.11).
 */
function surplusOf(
  api: SimulatedApiServer,
  set: KubernetesObject,
  pods: readonly KubernetesObject[],
): readonly string[] {
  const { revisionHistoryLimit = 10 } = set['spec'] as { readonly revisionHistoryLimit?: number };
  const revisions = revisionsOf(api, set);
  const current = currentHashOf(api, set);
  const used = new Set(pods.map(hashOf));
  const old = revisions.filter((revision) => hashOf(revision) !== current);
  // What is proven, or was before, stays: a staged rollout may give it to a node.
  const keptMax = isStaged(set) ? 1 : 0;
  const isUnused = old.filter((revision) => !used.has(hashOf(revision))).length > keptMax;
  if (revisions.length >= 1 && (old.length <= revisionHistoryLimit || !isUnused)) return [];
  const { name } = set.metadata;
  return [`${name}: ${revisions.length} revisions with limit ${revisionHistoryLimit}`];
}

function isStaged({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.['rollcall.dev/rollout'] !== undefined;
}

/** A staged rollout leaves alone what a taint keeps on a node that should run none: it would not come again. */
function isKeptBack(
  api: SimulatedApiServer,
  pod: KubernetesObject,
  set: KubernetesObject,
): boolean {
  const node = api.find('nodes', nodeOf(pod) ?? '');
  return isStaged(set) && node !== undefined && placementOf(set, node) !== 'run';
}

interface PodContent {
  readonly containers: readonly { readonly image: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

/**
 * After a rolling update every pod is as the template says: told from its content, and by its hash too, which others may
 * have taken off or written over.
 */
function outdatedOf(
  api: SimulatedApiServer,
  pod: KubernetesObject,
  set: KubernetesObject,
): readonly string[] {
  const { template } = set['spec'] as { readonly template: { readonly spec: PodContent } };
  const content = ({ containers, nodeSelector = {} }: PodContent): string =>
    JSON.stringify([containers.map(({ image }) => image), Object.entries(nodeSelector).toSorted()]);
  const isSame = content(pod['spec'] as PodContent) === content(template.spec);
  if (isSame && hashOf(pod) === currentHashOf(api, set)) return [];
  return [`${pod.metadata.name} on ${nodeOf(pod) ?? '?'} is outdated`];
}

const COUNTS = { run: [1, 1], keep: [0, 1], leave: [0, 0] } as const;

function differencesOn(
  node: KubernetesObject,
  set: KubernetesObject,
  pods: readonly KubernetesObject[],
): readonly string[] {
  const here = pods.filter((pod) => nodeOf(pod) === node.metadata.name);
  const placement = placementOf(set, node);
  const [least, most] = COUNTS[placement];
  if (here.length >= least && here.length <= most) return [];
  const names = here.map((pod) => `${pod.metadata.name} ${phaseOf(pod)}`).join(', ');
  return [`${set.metadata.name} on ${node.metadata.name}: ${placement}, has [${names}]`];
}

function troubleOf(pod: KubernetesObject, nodes: readonly KubernetesObject[]): readonly string[] {
  const { name, deletionTimestamp } = pod.metadata;
  if (phaseOf(pod) !== 'Running' || deletionTimestamp !== undefined) {
    return [`${name} is not running in peace`];
  }
  const isPlaced = nodes.some((node) => node.metadata.name === nodeOf(pod));
  return isPlaced ? [] : [`${name} is on no node`];
}

/** A pod that the selector does not match any more is let go (spec 2.4). */
function unreleasedOf(pod: KubernetesObject, set: KubernetesObject): readonly string[] {
  const { selector } = set['spec'] as {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  };
  const labels = pod.metadata.labels ?? {};
  const isSelected = Object.entries(selector.matchLabels).every(
    ([key, value]) => labels[key] === value,
  );
  return isSelected ? [] : [`${pod.metadata.name} is not selected, and not released`];
}

/** Every daemon pod tolerates these (spec 2.6). */
const AUTOMATIC: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

export function placementOf(
  set: KubernetesObject,
  node: KubernetesObject,
): 'run' | 'keep' | 'leave' {
  const spec = set['spec'] as {
    readonly template: {
      readonly spec: {
        readonly nodeSelector?: Readonly<Record<string, string>>;
        readonly tolerations?: readonly Toleration[];
      };
    };
  };
  const { nodeSelector = {}, tolerations: own = [] } = spec.template.spec;
  const tolerations = [...own, ...AUTOMATIC];
  const labels = node.metadata.labels ?? {};
  if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) return 'leave';
  const { taints = [] } = (node['spec'] ?? {}) as { readonly taints?: readonly Taint[] };
  const untolerated = taints.filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
  if (untolerated.some((taint) => taint.effect === 'NoExecute')) return 'leave';
  return untolerated.some((taint) => taint.effect === 'NoSchedule') ? 'keep' : 'run';
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  const isEffect = toleration.effect === undefined || toleration.effect === taint.effect;
  const isKey = toleration.key === undefined || toleration.key === taint.key;
  const isValue = toleration.operator === 'Exists' || toleration.value === taint.value;
  return isEffect && isKey && isValue;
}
