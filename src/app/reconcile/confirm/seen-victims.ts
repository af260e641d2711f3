/**
 * Which pods go over the version that the view showed, without a live read before (ADR 0071; S3, S4).
 *
 * An available pod of another revision, which the rolling update paid for out of its budget: while its version is the
 * one that was planned on, it is what was planned on, and the API server compares that in the very request that deletes it. So
 * a read before could only tell what the answer tells. Whatever spends no budget because it was not available, goes beside another
 * pod, or leaves a node is read as ever, and so is all when the view is not fresh.
 *
 * A version that moved without anything of ours (protocol 8) is answered by a conflict. The state remembers whose did: such a pod is
 * read, and where they are many, all are. So nothing is tried twice as seen that cannot succeed.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { PlannedDelete } from '../../../core/model/plan.ts';
import type { MovedVictims } from '../../../core/model/state.ts';

/** So many pods are remembered, in some 1,400 bytes of a state. Once that many had moved, whoever writes them writes all. */
export const MOVED_VICTIMS_MAX = 128;
/** So long after the last conflict all is forgotten: those pods are gone by then, or the writer is done. */
const REMEMBERED_MS = 10 * 60_000;

/** How victims are confirmed: each by a live read, or by its version where that says enough. */
export type VictimTrust = (planned: PlannedDelete) => 'read' | 'as-seen';

/** How a run confirms its victims; `isLive`: its view was not fresh. */
export function victimTrust(
  moved: MovedVictims | undefined,
  { isLive, nowMs }: { readonly isLive: boolean; readonly nowMs: number },
): VictimTrust {
  const movedEnds = new Set(isRemembered(moved, nowMs) ? moved.uidEnds : []);
  if (isLive || movedEnds.size >= MOVED_VICTIMS_MAX) return () => 'read';
  return (planned) =>
    isWellSeen(planned) && !movedEnds.has(endOf(planned.uid)) ? 'as-seen' : 'read';
}

/** True of a victim whose version says all that a live read would. A repeat is none: an earlier run may have met a conflict. */
function isWellSeen({ reason, isAvailable }: PlannedDelete): boolean {
  return reason === 'outdated' && isAvailable;
}

/** What the state remembers after a run in which these had moved. */
export function rememberMoved(
  moved: MovedVictims | undefined,
  uids: readonly Uid[],
  nowMs: number,
): MovedVictims | undefined {
  if (uids.length === 0) return moved;
  const former = isRemembered(moved, nowMs) ? moved.uidEnds : [];
  const ends = uids.map(endOf);
  const all = [...former.filter((end) => !ends.includes(end)), ...ends];
  return { uidEnds: all.slice(-MOVED_VICTIMS_MAX), atMs: nowMs };
}

function endOf(uid: Uid): string {
  return uid.slice(-8);
}

function isRemembered(moved: MovedVictims | undefined, nowMs: number): moved is MovedVictims {
  return moved !== undefined && nowMs - moved.atMs < REMEMBERED_MS;
}
