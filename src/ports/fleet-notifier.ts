/**
 * Who is told of fleets besides operators: event buses, and objects in a management cluster (ADR 0066).
 *
 * Notified after a decision was recorded, at least once, under one id. A notifier decides nothing, and nothing
 * waits for it: what cannot be told is told with the next step, or logged and counted.
 */
import type { FleetDecision, FleetDecisionKind } from '../core/fleet/rollout/fleet-decision.ts';
import type { FleetRecord } from '../core/fleet/rollout/fleet-record.ts';

export type { FleetDecision, FleetDecisionKind };

/** A receiver of decisions. Never rejects. */
export interface FleetNotifier {
  tell(decisions: readonly FleetDecision[]): Promise<void>;
  /**
   * How the fleet stands by now. Called after each step that changed its record, and for every other record that a walk passes: what is
   * shown already costs nothing, what could not be shown is tried again.
   */
  show(record: FleetRecord): Promise<void>;
  /**
   * The FleetDaemonSet is gone: called before what is stored of its rollout is removed. `later`: it is shown somewhere still, and is to be
   * asked for again.
   */
  hide(fleet: Pick<FleetRecord, 'namespace' | 'name' | 'uid'>): Promise<'hidden' | 'later'>;
}

/** One event. */
export interface BusEntry {
  /** What rules of the bus choose by. */
  readonly type: string;
  readonly atMs: number;
  /** JSON text. */
  readonly detail: string;
}

/** What became of one. */
export type PutOutcome =
  | { readonly kind: 'put' }
  /** Not taken, or not known to be: it may be put again. */
  | { readonly kind: 'retry'; readonly code: string }
  /** It never will be: missing right, no such bus, malformed. */
  | { readonly kind: 'refused'; readonly code: string };

/** A bus. */
export interface EventBus {
  /** One outcome each, in their order. Never rejects. */
  put(entries: readonly BusEntry[]): Promise<readonly PutOutcome[]>;
}
