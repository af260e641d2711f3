/**
 * What one step of a fleet stands on, and what it may come to: said once for the files of this room.
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import type { FreezeNote } from '../../../core/takeover/freeze.ts';

/** What a step stands on. */
export interface StepOf {
  readonly fleet: FleetDaemonSet;
  /** As it is after beginning and dealing; not yet written where it is not `known`. */
  readonly record: FleetRecord;
  /** As it is stored. */
  readonly known: FleetRecord | undefined;
  readonly freeze?: FreezeNote;
  /** No request to a cluster starts after these. */
  readonly limits: StartLimits;
}

/** What came of a step. */
export type StepOutcome =
  /** It was decided on, and there may be more to decide at once. */
  | 'decided'
  | 'stepped'
  /** Nothing moved. */
  | 'unchanged'
  /** Somebody else wrote the record. */
  | 'lost'
  | 'invalid'
  /** It is gone, and its mirror could not be removed yet. */
  | 'leaving'
  | 'removed';
