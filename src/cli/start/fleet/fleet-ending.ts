/**
 * How the rollout of a fleet ended, and whether that is what its play is about: exit code 0 of `npm start -- --fleet` (issue 18). Pure.
 *
 * With an injected failure it is a success that the rollout was halted in its first ring, and went back where that was asked for; one that
 * went through, or was halted later, is the failure that a rollout in stages is there to prevent. Without one it has to go through.
 */
import type { FleetBreach } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { wayBackOf } from '../../../core/fleet/rollout/way-back.ts';
import type { FleetFailure } from './fleet-failure.ts';

/** How it ended. */
export type FleetEnding = 'completed' | 'halted' | 'rolled-back';

/** What a play is about. */
export interface FleetPlan {
  readonly onBreach: FleetBreach;
  /** Absent: the release is good. */
  readonly inject?: FleetFailure;
}

/** How the rollout of this generation ended; undefined: it goes on, or has not begun. */
export function endingOf(
  record: FleetRecord | undefined,
  generation: number,
  { onBreach }: Pick<FleetPlan, 'onBreach'>,
): FleetEnding | undefined {
  if (record?.release.generation !== generation) return undefined;
  switch (record.gate.kind) {
    case 'done':
      return 'completed';
    case 'breach':
      // Where there is a way back, it has not begun yet.
      return onBreach === 'halt' || wayBackOf(record) === undefined ? 'halted' : undefined;
    case 'returned':
      return 'rolled-back';
    default:
      return undefined;
  }
}

/** True of the ending that the plan is about. */
export function isAsPlanned(
  ending: FleetEnding,
  record: Pick<FleetRecord, 'stage'>,
  { onBreach, inject }: FleetPlan,
): boolean {
  if (inject === undefined) return ending === 'completed';
  const expected: FleetEnding = onBreach === 'rollback' ? 'rolled-back' : 'halted';
  return ending === expected && record.stage === 0;
}
