/**
 * Carries out an operator's order to a fleet: an edit of its record by compare-and-set, and no more.
 *
 * A step in flight loses its write, and has sent nothing by then; one that writes already reads the record again before each batch
 * (issue 18: a halt is one batch late at most). The record is due at once, so the schedule's next turn does what the order means. A
 * bound on the tries; what loses them all has changed nothing.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { applyFleetOrder } from '../../../core/fleet/rollout/order-clusters.ts';
import type { OrderRefusalCode, RolloutOrder } from '../../../core/rollout/orders.ts';
import { beginRollout } from '../../../core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { OrderNote } from '../../../core/model/rollout-record.ts';
import { orderNote } from '../../../core/rollout/orders.ts';
import type { FleetRolloutStore } from '../../../ports/stores/fleet-rollout-store.ts';
import { releaseOf } from '../fleet-release.ts';
import { refuseFleet } from '../refusals.ts';
import type { FleetRefusal, FleetRefusalCode } from '../refusals.ts';
import { chooseFleetOrder } from './choose-fleet-order.ts';
import type { FleetOrderAsk } from './choose-fleet-order.ts';
import { findFleetRollout, isUnseen } from './find-fleet-rollout.ts';
import type { FleetRolloutSources, FoundFleetRollout } from './find-fleet-rollout.ts';

/** Beside steps that write every few seconds, and other operators. */
const RECORD_WRITES_MAX = 12;

/** What giving an order needs. */
export interface FleetOrderDependencies extends FleetRolloutSources {
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord' | 'writeRecord'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Who orders what. */
export interface FleetOrderRequest {
  readonly key: FleetKey;
  readonly by: string;
  readonly ask: FleetOrderAsk;
}

/** What came of it. */
export type FleetOrderOutcome =
  | { readonly kind: 'given' }
  /** It stood so already, by that note where it has one. */
  | { readonly kind: 'unchanged'; readonly since?: OrderNote }
  | FleetRefusal;

/** Gives the order. Rejects when a table fails; repeating it is harmless. */
export async function giveFleetOrder(
  { key, by, ask }: FleetOrderRequest,
  dependencies: FleetOrderDependencies,
): Promise<FleetOrderOutcome> {
  const note = orderNote(by, dependencies.clock.nowMs());
  let found = await findFleetRollout(key, dependencies);
  if (found.kind === 'refused') return found;
  const order = chooseFleetOrder(found, ask);
  if (order.kind === 'refused') return order;
  for (let tries = 0; tries < RECORD_WRITES_MAX; tries += 1) {
    const outcome = await tryOrder(found, { order, note }, dependencies);
    if (outcome !== 'lost') return outcome;
    found = await findFleetRollout(key, dependencies);
    if (found.kind === 'refused') return found;
  }
  return refuseFleet('busy', key);
}

async function tryOrder(
  found: FoundFleetRollout,
  { order, note }: { readonly order: RolloutOrder; readonly note: OrderNote },
  { rollouts }: FleetOrderDependencies,
): Promise<FleetOrderOutcome | 'lost'> {
  const record = recordFor(found, order, note.atMs);
  if (record === undefined) return refuseFleet('changed-rollout', found.head);
  const result = applyFleetOrder(record, order, note);
  if (result.kind === 'refused') {
    return refuseFleet(codeOf(result.code), found.head);
  }
  if (result.kind === 'unchanged') return result;
  return (await rollouts.writeRecord(result.record)) === 'lost' ? 'lost' : { kind: 'given' };
}

/** Of a FleetDaemonSet that no step has seen, the record that a step would begin with: so it is held from the first moment. */
function recordFor(
  found: FoundFleetRollout,
  order: RolloutOrder,
  nowMs: number,
): FleetRecord | undefined {
  const { head, record } = found;
  if (order.kind !== 'pause') return isUnseen(found) ? undefined : record;
  if (record !== undefined) return record;
  return beginRollout({ fleet: head, uid: head.uid, release: releaseOf(head), nowMs });
}

function codeOf(code: OrderRefusalCode): FleetRefusalCode {
  if (code === 'changed') return 'changed-rollout';
  return code === 'over' || code === 'not-next' ? 'nothing-waits' : code;
}
