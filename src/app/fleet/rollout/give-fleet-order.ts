/**
 * An operator's order to the clusters of a fleet (app/orders/keep-order.ts).
 *
 * The record is due at once, so the schedule's next turn does what the order means. A step that
 * writes already reads the record again before each batch: a halt is one batch late at most.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { formatFleetKey, type FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { gateBefore } from '../../../core/fleet/rollout/judge-stage.ts';
import { beginRollout, releaseOf } from '../../../core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { applyFleetOrder, orderedOf } from '../../../core/fleet/rollout/apply-fleet-order.ts';
import { orderNote, type RolloutOrder } from '../../../core/rollout/orders.ts';
import type { FleetRolloutStore } from '../../../ports/stores/fleet-rollout-store.ts';
import { giveTo, type OrderAsk, type OrderOutcome, type Seen } from '../../orders/keep-order.ts';
import type { OrderSubject } from '../../orders/order-refusals.ts';
import { refuseFleet, type FleetRefusal } from '../refusals.ts';
import { findFleetRollout, isUnseen } from './find-fleet-rollout.ts';
import type { FleetRolloutSources, FoundFleetRollout } from './find-fleet-rollout.ts';

interface FleetOrderDependencies extends FleetRolloutSources {
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord' | 'writeRecord'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

interface FleetOrderRequest {
  readonly key: FleetKey;
  readonly by: string;
  readonly ask: OrderAsk;
}

/** Gives the order. Rejects when a table fails; repeating it is harmless. */
export function giveFleetOrder(
  { key, by, ask }: FleetOrderRequest,
  dependencies: FleetOrderDependencies,
): Promise<OrderOutcome<FleetRefusal>> {
  const { rollouts, clock } = dependencies;
  return giveTo<FoundFleetRollout, FleetRecord, FleetRefusal>(
    {
      subject: subjectOf(key),
      find: () => findFleetRollout(key, dependencies),
      see,
      apply: (found, order, note) => {
        const record = recordFor(found, order, note.atMs);
        if (record === undefined) return { kind: 'refused', code: 'changed' };
        return applyFleetOrder(record, order, note);
      },
      write: async (_found, record) => (await rollouts.writeRecord(record)) !== 'lost',
      finish: (_found, outcome) => Promise.resolve(outcome),
    },
    ask,
    orderNote(by, clock.nowMs()),
  );
}

function subjectOf(key: FleetKey): OrderSubject {
  const name = formatFleetKey(key);
  const older = `rollcall fleet history ${name}, then rollcall fleet undo ${name} --to-generation N`;
  const command: OrderSubject['command'] = (verb) => `rollcall fleet ${verb} ${name}`;
  return { name, release: 'release', step: 'stage', command, older };
}

/** A pause holds any release; other orders need one that a step has begun, as nothing is known of one that was only applied. */
function see(found: FoundFleetRollout, ask: OrderAsk): Seen | FleetRefusal | RolloutOrder {
  if (ask.kind === 'pause') return { kind: 'pause' };
  const { head, record } = found;
  if (record === undefined || isUnseen(found)) return refuseFleet('not-begun', head);
  const { breach, good, stage } = record;
  const ordered = orderedOf(record);
  return {
    kind: 'seen',
    ...ordered,
    breach,
    hasProven: good.length > 0,
    waiting: ordered.approvable.stepIndex,
    openStep: gateBefore(stage),
    isAsked: () => true,
  };
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
