/**
 * The order between daemons of a node: `after: [cni]` in a policy (ADR 0058).
 *
 * On each node the daemons that are named go first: while one of them belongs there and has no available pod, or still has an
 * old one that is to be replaced by itself, the daemon that names it waits. One that does not exist holds up nobody, nor does
 * one whose old pods only a person replaces. What was begun on a node is ended there first (judge-entry.ts). Daemons that name each
 * other in a circle would wait for ever: whose key comes first goes.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { PodProjection } from '../model/projections.ts';
import type { Placement } from '../model/verdict.ts';
import { isAvailable, isUpdated } from '../pod/pod-facts.ts';

/** A daemon that goes first, as it shows one node. */
export interface Predecessor {
  readonly placement: Placement | undefined;
  readonly pods: readonly PodProjection[];
  /** Hash of its current revision; absent: nobody ever looked for it. */
  readonly hash: string | undefined;
  /** True if it was edited since then: which pods are old is not known yet. */
  readonly isEdited: boolean;
  readonly templateGeneration: string | undefined;
  /** True if it replaces old pods by itself: a policy, or RollingUpdate. */
  readonly isRolling: boolean;
  readonly minReadyMs: number;
  readonly nowMs: number;
}

/** True if the node is not ready for the daemon that comes after. */
export function mustWaitFor(predecessor: Predecessor): boolean {
  const { placement, pods, hash, isEdited, templateGeneration, isRolling } = predecessor;
  const { minReadyMs, nowMs } = predecessor;
  if (placement !== 'run') return false;
  const available = pods.filter(
    (pod) => !pod.isTerminating && isAvailable(pod, { minReadyMs, nowMs }),
  );
  if (available.length === 0) return true;
  if (!isRolling || hash === undefined) return false;
  if (isEdited) return true;
  return !available.some((pod) => isUpdated(pod, { hash, templateGeneration }));
}

/** Names of an `after` list as keys; one without a namespace is of the DaemonSet's own. */
export function keysOf(
  after: readonly string[],
  namespace: string,
): readonly { readonly namespace: string; readonly name: string }[] {
  return after.map((text) => {
    const [first = '', second] = text.split('/', 2);
    return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
  });
}

/** True if of two in a circle this one goes first, whatever it says. */
export function goesFirst(own: string, other: string): boolean {
  return compareText(own, other) < 0;
}
