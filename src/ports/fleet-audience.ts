/**
 * Who is told of fleets besides operators: event buses, and objects in a management cluster (issue 18).
 *
 * Told after a decision was recorded, at least once; a decision has one id whoever tells it, and however often. Nobody who is told decides
 * anything, and nothing waits for them: what cannot be told is told with the next step, or logged and counted.
 */
import type { FleetRecord } from '../core/fleet/rollout/fleet-record.ts';

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

/** Whoever is told. Never rejects. */
export interface FleetAudience {
  tell(decisions: readonly FleetDecision[]): Promise<void>;
  /** How the fleet stands by now; called after each step that changed its record. */
  show(record: FleetRecord): Promise<void>;
}
