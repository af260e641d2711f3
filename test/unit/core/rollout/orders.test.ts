/** Orders to a staged rollout (issue 17): each does one thing, to the rollout that its giver looked at. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eValueOf } from '../../../../src/core/health/trial.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { applyOrder } from '../../../../src/core/stages/apply-order.ts';
import { orderNote } from '../../../../src/core/rollout/orders.ts';
import type { OrderResult, RolloutOrder } from '../../../../src/core/rollout/orders.ts';
import { STARTED_MS, breachOf, recordOf, stepOf } from '../../../support/rollout-records.ts';

const NOTE = orderNote('ann', STARTED_MS + 200_000);
const LATER = orderNote('bob', STARTED_MS + 300_000);

function changed(result: OrderResult<RolloutRecord>): RolloutRecord {
  assert.equal(result.kind, 'changed', JSON.stringify(result));
  return result.record;
}

function refusal(record: RolloutRecord, order: RolloutOrder): string {
  const result = applyOrder(record, order, NOTE);
  // An order that is carried out is `changed`, too.
  return result.kind === 'refused' ? result.code : `not refused: ${result.kind}`;
}

describe('pausing', () => {
  it('holds whatever is rolled out, and the first one who asked is remembered', () => {
    const paused = changed(applyOrder(recordOf(), { kind: 'pause' }, NOTE));
    assert.deepEqual(paused, recordOf({ orders: { paused: NOTE } }));
    const again = applyOrder(paused, { kind: 'pause' }, LATER);
    assert.deepEqual(again, { kind: 'unchanged', since: NOTE });
  });

  it('is possible also when all steps are done: the next revision may come any moment', () => {
    const done = recordOf({ step: stepOf({ kind: 'done' }) });
    assert.deepEqual(changed(applyOrder(done, { kind: 'pause' }, NOTE)).orders.paused, NOTE);
  });
});

describe('resuming', () => {
  it('lifts a pause, and the soak goes on', () => {
    const paused = recordOf({ orders: { paused: NOTE } });
    const order = { kind: 'resume', release: 'new', pausedAtMs: NOTE.atMs } as const;
    const resumed = changed(applyOrder(paused, order, LATER));
    assert.deepEqual(resumed.orders, {});
    assert.equal(resumed.step.wellSinceMs, recordOf().step.wellSinceMs);
    assert.equal(resumed.step.progressedAtMs, LATER.atMs);
  });

  it('overrules a breach: soak and evidence begin anew, and the hash is known to be bad no more', () => {
    const breach = breachOf();
    const halted = recordOf({
      breach,
      trial: { ...recordOf().trial, logRatios: [1, 2, 3, 4], isWithoutControls: true },
      refused: [
        { id: 'new', hash: 'new', cause: 'OOMKilled', atMs: breach.atMs },
        { id: 'other', hash: 'other', cause: 'Restarts', atMs: 1 },
      ],
    });
    const order = { kind: 'resume', release: 'new', breachAtMs: breach.atMs } as const;
    const resumed = changed(applyOrder(halted, order, LATER));
    assert.equal(resumed.breach, undefined);
    assert.equal(eValueOf(resumed.trial), 1);
    assert.ok(eValueOf(halted.trial) > 20);
    assert.deepEqual(
      resumed.refused.map(({ hash }) => hash),
      ['other'],
    );
    assert.equal(resumed.step.wellSinceMs, undefined);
    assert.deepEqual(resumed.orders.resumed, { ...LATER, breach });
    const again = applyOrder(resumed, order, NOTE);
    assert.deepEqual(again, { kind: 'unchanged', since: { ...LATER, breach } });
  });

  it('overrules no breach that its giver did not see', () => {
    const halted = recordOf({ breach: breachOf(), orders: { paused: NOTE } });
    assert.equal(refusal(halted, { kind: 'resume', release: 'new' }), 'changed');
    const other = { kind: 'resume', release: 'new', breachAtMs: breachOf().atMs - 1 } as const;
    assert.equal(refusal(halted, other), 'changed');
    assert.equal(refusal(halted, { ...other, release: 'newer' }), 'changed');
  });

  it('takes an undo back', () => {
    const undone = recordOf({ orders: { undo: { ...NOTE, to: 'old' } } });
    const order = { kind: 'resume', release: 'new', undoneAtMs: NOTE.atMs } as const;
    assert.deepEqual(changed(applyOrder(undone, order, LATER)).orders, {});
  });

  it('takes back no undo, and lifts no pause, that its giver did not see', () => {
    const order = { kind: 'resume', release: 'new', pausedAtMs: NOTE.atMs } as const;
    assert.equal(refusal(recordOf({ orders: { undo: { ...NOTE, to: 'old' } } }), order), 'changed');
    assert.equal(refusal(recordOf({ orders: { paused: LATER } }), order), 'changed');
  });

  it('says so where nothing is held', () => {
    assert.equal(refusal(recordOf(), { kind: 'resume', release: 'new' }), 'not-held');
  });
});

describe('approving', () => {
  const first = { kind: 'approve', release: 'new', stepIndex: 1 } as const;

  it('lets the next step open, and does one thing when two people ask', () => {
    const approved = changed(applyOrder(recordOf(), first, NOTE));
    assert.deepEqual(approved.orders.approved, { ...NOTE, stepIndex: 1 });
    assert.equal(approved.step.progressedAtMs, NOTE.atMs);
    const second = applyOrder(approved, first, LATER);
    assert.deepEqual(second, { kind: 'unchanged', since: { ...NOTE, stepIndex: 1 } });
    const opened = { ...approved, step: stepOf({ kind: 'group', index: 1 }) };
    assert.equal(applyOrder(opened, first, LATER).kind, 'unchanged');
  });

  it('is of the next step alone, and of a step that there is', () => {
    assert.equal(refusal(recordOf(), { ...first, stepIndex: 2 }), 'not-next');
    assert.equal(refusal(recordOf({ step: stepOf({ index: 2 }) }), first), 'not-next');
    const last = recordOf({ step: stepOf({ kind: 'group', index: 3 }) });
    assert.equal(refusal(last, { ...first, stepIndex: 4 }), 'not-next');
  });

  it('opens nothing beside a breach, an undo, another revision, or the end', () => {
    assert.equal(refusal(recordOf({ breach: breachOf() }), first), 'halted');
    assert.equal(refusal(recordOf({ orders: { undo: { ...NOTE, to: 'old' } } }), first), 'halted');
    assert.equal(refusal(recordOf(), { ...first, release: 'newer' }), 'changed');
    assert.equal(refusal(recordOf({ step: stepOf({ kind: 'done' }) }), first), 'over');
  });
});

describe('undoing', () => {
  const back = { kind: 'undo', release: 'new', to: 'old' } as const;

  it('asks for the good revision, once, and lifts a pause', () => {
    const undone = changed(applyOrder(recordOf({ orders: { paused: NOTE } }), back, LATER));
    assert.deepEqual(undone.orders, { undo: { ...LATER, to: 'old' } });
    assert.equal(applyOrder(undone, back, NOTE).kind, 'unchanged');
  });

  it('is never of another pair of revisions than was seen', () => {
    assert.equal(refusal(recordOf(), { ...back, release: 'newer' }), 'changed');
    assert.equal(refusal(recordOf(), { ...back, to: 'older' }), 'changed');
    const same = recordOf({ hash: 'old' });
    assert.equal(refusal(same, { ...back, release: 'old' }), 'changed');
    // The canary has passed: what was good before it is the way back.
    const passed = recordOf({
      proven: { hash: 'new', provenAtMs: 1, isBaseline: false },
      former: { hash: 'old', provenAtMs: 1, isBaseline: true },
    });
    assert.deepEqual(changed(applyOrder(passed, back, NOTE)).orders.undo, { ...NOTE, to: 'old' });
    const { former: _none, ...returned } = recordOf();
    assert.equal(refusal(returned, back), 'changed');
  });
});

describe('what an undo leaves', () => {
  const back = { kind: 'undo', release: 'new', to: 'old' } as const;
  const both = [
    { id: 'new', hash: 'new', goodAtMs: 2, isBaseline: false },
    { id: 'old', hash: 'old', goodAtMs: 1, isBaseline: true, leftAtMs: 2 },
  ];

  it('is refused, and good no more; where it leads to may be returned to, however old', () => {
    const undone = changed(applyOrder(recordOf({ good: both }), back, NOTE));
    assert.deepEqual(undone.refused[0], {
      id: 'new',
      hash: 'new',
      cause: 'Undone',
      atMs: NOTE.atMs,
    });
    assert.deepEqual(undone.good, [{ ...both[1], leftAtMs: NOTE.atMs }]);
    assert.equal(undone.breach, undefined);
  });

  it('is held until a person changed the template, where pods are made by others', () => {
    const order = { ...back, via: 'template' } as const;
    const undone = changed(applyOrder(recordOf({ good: both }), order, NOTE));
    assert.deepEqual([undone.breach?.cause, undone.orders.undo], ['KnownBad', undefined]);
    assert.match(undone.breach?.message ?? '', /new was undone before/);
    assert.equal(applyOrder(undone, order, LATER).kind, 'unchanged');
    const breach = breachOf();
    const halted = changed(applyOrder(recordOf({ breach }), order, NOTE));
    assert.equal(halted.breach, breach, 'why it was halted stays');
    assert.equal(halted.refused[0]?.cause, 'Undone');
  });

  it('is refused no more once it is resumed', () => {
    const undone = changed(applyOrder(recordOf({ good: both }), back, NOTE));
    const order = { kind: 'resume', release: 'new', undoneAtMs: NOTE.atMs } as const;
    const resumed = changed(applyOrder(undone, order, LATER));
    assert.deepEqual([resumed.refused, resumed.orders], [[], {}]);
  });
});

describe('a note', () => {
  it('holds a name of bounded length, and nothing that steers a terminal', () => {
    assert.equal(orderNote('\u001b[2Jann', 1).by, '-2Jann');
    assert.equal(orderNote('x'.repeat(500), 1).by.length, 220);
    assert.equal(orderNote('', 1).by, 'unknown');
    assert.equal(orderNote('jörg@example.com', 1).by, 'jörg@example.com');
    assert.equal(orderNote('ann (Admin/a=b,c)', 1).by, 'ann (Admin/a=b,c)');
  });
});
