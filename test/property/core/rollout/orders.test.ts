/**
 * Any sequence of orders, of any number of people, to any record: it stays within its bounds, opens no step, and what was
 * ordered twice was ordered once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { applyOrder } from '../../../../src/core/stages/order-nodes.ts';
import { orderNote, type RolloutOrder } from '../../../../src/core/rollout/orders.ts';
import { wayBackOf } from '../../../../src/core/rollout/good-releases.ts';
import { breachOf, recordOf, stepOf } from '../../../support/rollout-records.ts';

const hashes = fc.constantFrom('new', 'newer', 'old');
const times = fc.integer({ min: 1, max: 5 });

const orders: fc.Arbitrary<RolloutOrder> = fc.oneof(
  fc.constant({ kind: 'pause' } as const),
  fc.record(
    { kind: fc.constant('resume' as const), release: hashes, breachAtMs: times },
    { requiredKeys: ['kind', 'release'] },
  ),
  fc.record({
    kind: fc.constant('approve' as const),
    release: hashes,
    stepIndex: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record(
    {
      kind: fc.constant('undo' as const),
      release: hashes,
      to: hashes,
      via: fc.constant('template' as const),
    },
    { requiredKeys: ['kind', 'release', 'to'] },
  ),
);

const records: fc.Arbitrary<RolloutRecord> = fc
  .record({
    hash: hashes,
    index: fc.integer({ min: 0, max: 4 }),
    groups: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    isDone: fc.boolean(),
    breachAtMs: fc.option(times, { nil: undefined }),
    refused: fc.array(hashes, { maxLength: 8 }),
  })
  .map(({ hash, index, groups, isDone, breachAtMs, refused }) => {
    const { groups: _of, ...record } = recordOf({
      hash,
      step: stepOf({ kind: isDone ? 'done' : index === 0 ? 'canary' : 'group', index }),
      refused: refused.map((one) => ({ id: one, hash: one, cause: 'Restarts', atMs: 1 })),
      canary: [nodeName('a')],
    });
    return {
      ...record,
      ...(groups === undefined ? {} : { groups }),
      ...(breachAtMs === undefined ? {} : { breach: breachOf({ atMs: breachAtMs }) }),
    };
  });

const given = fc.array(
  fc.record({ order: orders, by: fc.string({ maxLength: 200 }), atMs: times }),
  { maxLength: 12 },
);

function sizeOf({ orders: all }: RolloutRecord): number {
  return JSON.stringify(all).length;
}

test('a record stays within its bounds, and no order opens a step, or makes a breach but of what is refused by it', () => {
  fc.assert(
    fc.property(records, given, (first, sequence) => {
      let record = first;
      for (const { order, by, atMs } of sequence) {
        const result = applyOrder(record, order, orderNote(by, atMs));
        if (result.kind !== 'changed') continue;
        const { step, breach, refused, orders: all } = result.record;
        assert.equal(step.index, record.step.index);
        assert.equal(step.kind, record.step.kind);
        const isUndo = order.kind === 'undo';
        const isMade = breach !== undefined && breach !== record.breach;
        assert.ok(!isMade || (isUndo && order.via === 'template' && breach.cause === 'KnownBad'));
        assert.ok(refused.length <= Math.max(8, record.refused.length));
        assert.ok(isUndo || refused.every((one) => record.refused.includes(one)));
        assert.ok((all.approved?.stepIndex ?? 0) <= step.index + 1);
        assert.ok(all.undo === undefined || all.undo.to === wayBackOf(record)?.hash);
        record = result.record;
      }
      // Four notes of 64 characters at most, whatever was ordered.
      assert.ok(sizeOf(record) < 1500, String(sizeOf(record)));
    }),
  );
});

test('what was ordered twice was ordered once, whoever asked', () => {
  fc.assert(
    fc.property(records, orders, (record, order) => {
      const once = applyOrder(record, order, orderNote('ann', 10));
      if (once.kind !== 'changed') return;
      const twice = applyOrder(once.record, order, orderNote('bob', 11));
      assert.notEqual(twice.kind, 'changed');
    }),
  );
});
