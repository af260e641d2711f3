/**
 * Which generations of a FleetDaemonSet are kept once another one is applied: what `rollcall fleet undo` and a rollback go back to.
 *
 * The newest ones, and whatever the record of the rollout still names: a release that was proven long ago is where a halted one
 * goes back to. Bounded, since the list stands in the head.
 */
import type { FleetRecord, FleetRelease } from '../rollout/fleet-record.ts';

/** Generations whose documents are kept, with the one that is applied. */
export const GENERATIONS_KEPT = 10;

/** The generations before the next one, the newest first: `present` was applied last, `history` before it. */
export function nextHistory(
  present: FleetRelease,
  history: readonly FleetRelease[],
  record: Pick<FleetRecord, 'release' | 'good'> | undefined,
): readonly FleetRelease[] {
  const named = record === undefined ? [] : [record.release, ...record.good];
  const kept = new Set(named.map((release) => release.documentId));
  return [present, ...history].filter(
    ({ documentId }, index) => index < GENERATIONS_KEPT - 1 || kept.has(documentId),
  );
}
