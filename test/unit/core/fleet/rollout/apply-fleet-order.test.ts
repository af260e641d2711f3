// An operator's orders to a fleet's rollout: each names what was seen, is safe to repeat, and is due at once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_COUNTS } from '../../../../../src/core/fleet/rollout/begin-rollout.ts';
import { applyFleetOrder } from '../../../../../src/core/fleet/rollout/apply-fleet-order.ts';
import type { RolloutOrder } from '../../../../../src/core/rollout/orders.ts';
import type {
  FleetBreachNote,
  FleetGate,
  FleetRecord,
} from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { fleetRecord, goodOf } from '../../../../support/fleet-records.ts';

const NOTE = { by: 'anna', atMs: 5000 };
const LATER = { by: 'ben', atMs: 6000 };
const BREACH: FleetBreachNote = {
  cause: 'ClustersFailed',
  atMs: 4000,
  message: 'one failed',
  clusters: [],
};
const GOOD = goodOf('former');
const RESUME: RolloutOrder = { kind: 'resume', release: '2' };
const UNDO: RolloutOrder = { kind: 'undo', release: '2', to: '1' };
const APPROVE: RolloutOrder = { kind: 'approve', release: '2', stepIndex: 2 };

function given(record: FleetRecord, order: RolloutOrder, note = NOTE): FleetRecord {
  const result = applyFleetOrder(record, order, note);
  assert.equal(result.kind, 'changed', JSON.stringify(result));
  return result.record;
}

function refusedAs(record: FleetRecord, order: RolloutOrder): string {
  const result = applyFleetOrder(record, order, NOTE);
  return result.kind === 'refused' ? result.code : `carried out: ${result.kind}`;
}

const held = (gate: FleetGate, changes: Partial<FleetRecord> = {}): FleetRecord =>
  fleetRecord({ gate, ...changes });

describe('a pause', () => {
  it('is of whatever rolls, due at once, and stands as it was given first', () => {
    const paused = given(fleetRecord({ dueAtMs: 9000 }), { kind: 'pause' });
    assert.deepEqual(paused.orders, { paused: NOTE });
    assert.deepEqual([paused.gate, paused.dueAtMs], [{ kind: 'paused' }, 5000]);
    const again = applyFleetOrder(paused, { kind: 'pause' }, LATER);
    assert.deepEqual(again, { kind: 'unchanged', since: NOTE });
  });

  it('is told by the next step, beside what the last one may not have told', () => {
    const before = {
      id: 'x',
      kind: 'stage-opened',
      atMs: 1,
      message: 'stage first opened',
    } as const;
    const { untold } = given(fleetRecord({ untold: [before] }), { kind: 'pause' });
    const told = { id: 'uid-1/2/4/paused', kind: 'paused', atMs: 5000, message: 'paused by anna' };
    assert.deepEqual(untold, [before, told]);
    const full = Array.from({ length: 16 }, () => before);
    assert.equal(given(fleetRecord({ untold: full }), { kind: 'pause' }).untold.length, 16);
  });

  it('hides no graver reason, and stays behind it', () => {
    for (const gate of [
      { kind: 'breach' },
      { kind: 'returning' },
      { kind: 'returned' },
      { kind: 'frozen', by: 'x', why: '' },
    ] as const) {
      const paused = given(held(gate), { kind: 'pause' });
      assert.deepEqual([paused.gate, paused.orders.paused], [gate, NOTE]);
    }
  });
});

describe('a resume', () => {
  it('lifts a pause, and leaves the soak and what was approved', () => {
    const orders = { paused: NOTE, approved: { ...NOTE, stepIndex: 0 } };
    const record = held({ kind: 'paused' }, { orders, wellSinceMs: 3000, stage: 1 });
    const resumed = given(record, { ...RESUME, pausedAtMs: NOTE.atMs }, LATER);
    assert.deepEqual(resumed.orders, { approved: { ...NOTE, stepIndex: 0 } });
    assert.deepEqual([resumed.stage, resumed.wellSinceMs], [1, 3000]);
    assert.deepEqual([resumed.gate, resumed.progressedAtMs], [{ kind: 'next' }, 6000]);
  });

  it('overrules the breach that was seen, and no other', () => {
    const refused = [
      { contentHash: 'content', cause: 'ClustersFailed', atMs: 4000 },
      { contentHash: 'other', cause: 'NodesFailed', atMs: 1 },
    ] as const;
    const record = held({ kind: 'breach' }, { breach: BREACH, refused, wellSinceMs: 3 });
    const resumed = given(record, { ...RESUME, breachAtMs: 4000 });
    assert.deepEqual(resumed.orders.resumed, { ...NOTE, breach: BREACH });
    assert.deepEqual(
      resumed.refused.map(({ contentHash }) => contentHash),
      ['other'],
    );
    assert.ok(!('breach' in resumed) && !('wellSinceMs' in resumed));
    assert.equal(refusedAs(record, { ...RESUME, breachAtMs: 3999 }), 'changed');
    assert.equal(refusedAs(record, RESUME), 'changed', 'no breach was seen');
  });

  it('of two operators at once does one thing', () => {
    const record = held({ kind: 'breach' }, { breach: BREACH });
    const order = { ...RESUME, breachAtMs: 4000 } as const;
    const resumed = given(record, order);
    const second = applyFleetOrder(resumed, order, LATER);
    assert.deepEqual(second, {
      kind: 'unchanged',
      since: { ...NOTE, breach: BREACH },
    });
    // Another breach came meanwhile: nobody has judged that one.
    const again = { ...resumed, breach: { ...BREACH, atMs: 5500 } };
    assert.equal(refusedAs(again, order), 'changed');
  });

  it('takes an undo back, and begins with the first stage: clusters have gone back', () => {
    const orders = { undo: NOTE, approved: { ...NOTE, stepIndex: 3 } };
    const counts = { ...NO_COUNTS, rolling: 1, returning: 2 };
    const record = held({ kind: 'returning' }, { orders, stage: 2, wellSinceMs: 3, counts });
    assert.equal(refusedAs(record, RESUME), 'changed', 'no undo was seen');
    const resumed = given(record, { ...RESUME, undoneAtMs: NOTE.atMs }, LATER);
    assert.deepEqual([resumed.stage, resumed.stageOpenedAtMs, resumed.orders], [-1, 6000, {}]);
    assert.ok(!('wellSinceMs' in resumed));
    assert.deepEqual(resumed.stages, [], 'assigned anew');
    assert.deepEqual(resumed.counts, NO_COUNTS, 'none comes back any more');
    const rolledBack = held({ kind: 'returned' }, { breach: BREACH, stage: 1 });
    assert.equal(given(rolledBack, { ...RESUME, breachAtMs: 4000 }).stage, -1);
  });
});

describe('an approval', () => {
  const waiting = held({ kind: 'approval', stepIndex: 2 });

  it('is of the gate that waits, of the generation that was seen', () => {
    const approved = given(waiting, APPROVE);
    assert.deepEqual(approved.orders, { approved: { ...NOTE, stepIndex: 2 } });
    assert.deepEqual(approved.gate, { kind: 'next' });
    assert.equal(refusedAs(waiting, { ...APPROVE, release: '3' }), 'changed');
    assert.equal(refusedAs(waiting, { ...APPROVE, stepIndex: 4 }), 'not-next');
    assert.equal(refusedAs(fleetRecord(), APPROVE), 'nothing-waits');
    assert.equal(refusedAs(held({ kind: 'paused' }), APPROVE), 'nothing-waits');
    assert.equal(refusedAs(held({ kind: 'done' }), APPROVE), 'over');
  });

  it('lets a stage pass of which no cluster shows evidence', () => {
    const empty = held({ kind: 'no-evidence', stage: 'first', stepIndex: 1 });
    const approved = given(empty, { ...APPROVE, stepIndex: 1 });
    assert.deepEqual(approved.orders.approved, { ...NOTE, stepIndex: 1 });
  });

  it('of two operators at once opens one gate, also once it has opened', () => {
    const approved = given(waiting, APPROVE);
    const since = { ...NOTE, stepIndex: 2 };
    assert.deepEqual(applyFleetOrder(approved, APPROVE, LATER), { kind: 'unchanged', since });
    const next = { ...approved, stage: 1, gate: { kind: 'approval', stepIndex: 4 } as const };
    assert.deepEqual(applyFleetOrder(next, APPROVE, LATER), { kind: 'unchanged', since });
  });

  it('opens nothing over a breach, or while clusters go back', () => {
    assert.equal(refusedAs({ ...waiting, breach: BREACH }, APPROVE), 'halted');
    assert.equal(refusedAs({ ...waiting, orders: { undo: NOTE } }, APPROVE), 'halted');
  });
});

describe('an undo', () => {
  const record = fleetRecord({ good: [goodOf('content', 2), { ...GOOD, leftAtMs: 3000 }] });

  it('leads to what was good before, and lifts a pause', () => {
    const undone = given({ ...record, orders: { paused: LATER } }, UNDO);
    assert.deepEqual(undone.orders, { undo: NOTE });
    assert.deepEqual(undone.gate, { kind: 'returning' });
    assert.deepEqual(applyFleetOrder(undone, UNDO, LATER), { kind: 'unchanged', since: NOTE });
  });

  it('takes the release off the good ones, refuses its content, and leaves the way back in force', () => {
    const undone = given(record, UNDO);
    assert.deepEqual(undone.good, [GOOD]);
    assert.deepEqual(undone.refused, [{ contentHash: 'content', cause: 'Undone', atMs: 5000 }]);
    const lifted = given(undone, { ...RESUME, undoneAtMs: NOTE.atMs }, LATER);
    assert.deepEqual(lifted.refused, [], 'whoever lifts it knows of it');
  });

  it('is given once more where what clusters go back to failed', () => {
    const breach: FleetBreachNote = { ...BREACH, cause: 'ReturnFailed' };
    const stopped = { ...given(record, UNDO), breach, gate: { kind: 'breach' } as const };
    const again = given(stopped, UNDO, LATER);
    assert.deepEqual([again.breach, again.orders.undo], [undefined, LATER]);
  });

  it('stays behind a freeze', () => {
    const frozen = { kind: 'frozen', by: 'x', why: 'y' } as const;
    assert.deepEqual(given({ ...record, gate: frozen }, UNDO).gate, frozen);
  });
});
