/**
 * Does an entry of the lane still count? Judged by what its DaemonSet shows, never by time alone (issue 17, Build 6).
 *
 *   old pod there, going or its delete on record   held: it may go at any moment
 *   old pod there, nothing on record               held until a run that has not recorded it yet is dead; then free
 *   the same, and it came in an older one's place  held until it is available as well
 *   old pod gone, no other one available           held, if one belongs there
 *   old pod gone, another one available            free
 *   the node or the DaemonSet is gone              free
 *
 * Assumes that the state was read before the pods: a delete leaves the record only once pods showed what came of it.
 */
import type { PodProjection } from '../model/projections.ts';
import type { Intent } from '../model/state.ts';
import type { Placement } from '../model/verdict.ts';
import { isAvailable } from '../pod/pod-facts.ts';
import type { LaneEntry } from './lane.ts';

/** What the DaemonSet of an entry shows of its node. */
export interface OwnerFacts {
  /** Absent: the node is gone. */
  readonly placement?: Placement;
  /** Its pods on the node. */
  readonly pods: readonly PodProjection[];
  readonly intents: readonly Intent[];
  readonly minReadyMs: number;
  readonly nowMs: number;
}

/** Whether it counts; `undefined` facts: the DaemonSet is gone. */
export function judgeEntry(entry: LaneEntry, facts: OwnerFacts | undefined): 'held' | 'free' {
  if (facts?.placement === undefined) return 'free';
  const { pods, intents, minReadyMs, nowMs } = facts;
  const at = { minReadyMs, nowMs };
  const old = pods.find(({ uid }) => uid === entry.pod);
  if (old !== undefined) {
    const isUnused = !old.isTerminating && !isOnRecord(entry, intents) && nowMs >= entry.deadAtMs;
    const isOver = entry.isDown !== true || facts.placement !== 'run' || isAvailable(old, at);
    return isUnused && isOver ? 'free' : 'held';
  }
  if (pods.some((pod) => !pod.isTerminating && isAvailable(pod, at))) return 'free';
  // Nobody will make another one there.
  return facts.placement === 'run' ? 'held' : 'free';
}

/**
 * True if the replacement that an entry stands for is past its claim: the old pod is gone or going, or its delete is on record.
 * Then its DaemonSet has to end it, whoever goes first: those wait for this very entry, also where what was begun is ill and only
 * another revision mends it.
 */
export function isPastClaim(entry: LaneEntry, { pods, intents }: OwnerFacts): boolean {
  const old = pods.find(({ uid }) => uid === entry.pod);
  const isLeft = old === undefined || old.isTerminating || isOnRecord(entry, intents);
  return isLeft || entry.isDown === true;
}

function isOnRecord({ pod }: LaneEntry, intents: readonly Intent[]): boolean {
  return intents.some((each) => each.kind === 'delete' && each.uid === pod);
}
