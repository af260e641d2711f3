/**
 * A decision of a fleet, as others are told of it (issue 18).
 *
 * Made with the record that it leads to, and told after that was recorded, at least once.
 */
import type { FleetRecord } from './fleet-record.ts';

/** What was decided. The type of its CloudEvent is `dev.rollcall.fleet.<kind>`. */
export type FleetDecisionKind =
  | 'rollout-started'
  | 'stage-opened'
  | 'stage-passed'
  | 'cluster-failed'
  | 'halted'
  | 'rollback-started'
  | 'rolled-back'
  | 'paused'
  | 'resumed'
  | 'approved'
  | 'completed';

/** A decision. */
export interface FleetDecision {
  /** The same for the same decision, whoever makes it again: of uid, generation, version of the record, and kind. */
  readonly id: string;
  readonly kind: FleetDecisionKind;
  readonly atMs: number;
  /** In one sentence, without what may be secret. */
  readonly message: string;
  /** The record that it made. */
  readonly record: FleetRecord;
  /** Whom it is about, where it is about one. */
  readonly cluster?: string;
}
