/**
 * What the original's order says of a rollout that is under way, and where it is chance. Pure.
 *
 * Decided: an old pod that is not available is replaced at once, whatever the budget (rollingUpdate and
 * surge alike); so after its first look no such pod is left, on any node, before or beside the replacement of
 * an available one. With minReadySeconds that nobody outlasts no pod is available, so nothing is chance.
 * A pod that is up to date stays. Chance: which of the available old pods the rest of the budget goes to. Left to
 * the manage loop, and to counts here: nodes with several pods.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import { isPodAvailable } from './budget.ts';
import { HASH_LABEL } from './find-pods.ts';
import type { PodPortrait, SetPortrait } from './portrait.ts';

/** Of a pod that lost its hash label: it may be up to date by its generation. */
const WITHOUT_HASH: PodPortrait['revision'] = 0;

/** True while the strategy still has pods to replace. */
export function isUnderWay(set: SetPortrait): boolean {
  const newest = newestOf(set);
  const pods = Object.values(set.podsByNode).flat();
  return !set.isOnDelete && pods.some((pod) => pod.revision !== newest);
}

/** True where chance cannot explain the node: its one old pod is not available, and still there. */
export function isPassedOver(set: SetPortrait, node: string): boolean {
  const newest = newestOf(set);
  const [pod, ...others] = set.podsByNode[node] ?? [];
  if (pod === undefined || others.length > 0 || set.isOnDelete) return false;
  if (pod.isDeleting || pod.revision === newest || pod.revision === WITHOUT_HASH) return false;
  return !pod.isReady || !set.hasAvailability;
}

function newestOf(set: SetPortrait): PodPortrait['revision'] {
  return set.revisions.at(-1)?.number ?? 0;
}

/** What a witness knows when an available old pod of a rollout goes. */
export interface Passing {
  readonly owner: KubernetesObject;
  /** The others of the DaemonSet. */
  readonly pods: readonly KubernetesObject[];
  /** The hash that the going pod does not have. */
  readonly newestHash: string;
  /** True for a node whose pod has been unavailable for long enough to be known. */
  readonly isKnownLost: (node: string) => boolean;
}

/** True unless hash or generation say that the pod is up to date, as the original reads them, or the hash is lost. */
export function isOfFormerRevision(
  { metadata }: KubernetesObject,
  { owner, newestHash }: Pick<Passing, 'owner' | 'newestHash'>,
): boolean {
  const { [HASH_LABEL]: hash, 'pod-template-generation': generation } = metadata.labels ?? {};
  if (hash === undefined || hash === newestHash) return false;
  const current = owner.metadata.annotations?.['deprecated.daemonset.template.generation'];
  return generation === undefined || generation !== current;
}

/** Names of old pods that had to go before it: alone on their nodes, and known to be unavailable. */
export function findPassedOver({
  owner,
  pods,
  newestHash,
  isKnownLost,
}: Passing): readonly string[] {
  const nodes = pods.map((pod) => readPod(pod).node);
  return pods
    .filter((pod) => {
      const { node = '', isDeleting, isTerminal } = readPod(pod);
      const isAlone = nodes.filter((it) => it === node).length === 1;
      const isOld = isOfFormerRevision(pod, { owner, newestHash });
      if (!isAlone || !isOld || isDeleting || isTerminal) return false;
      return !isPodAvailable(pod, owner) && isKnownLost(node);
    })
    .map(({ metadata }) => metadata.name);
}
