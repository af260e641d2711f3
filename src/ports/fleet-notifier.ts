/**
 * Who is told of fleets besides operators: event buses, and objects in a management cluster (issue 18).
 *
 * Told after a decision was recorded, at least once; a decision has one id whoever tells it, and however often. Nobody who is told decides
 * anything, and nothing waits for them: what cannot be told is told with the next step, or logged and counted.
 */
import type { FleetDecision, FleetDecisionKind } from '../core/fleet/rollout/fleet-decision.ts';
import type { FleetRecord } from '../core/fleet/rollout/fleet-record.ts';

export type { FleetDecision, FleetDecisionKind };

/** Whoever is told. Never rejects. */
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
