/** Turns of a batch of hints: who stands for whom, and in which order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WARY_RECEIVES_MIN, planTurns } from '../../../functions/reconcile/plan-turns.ts';
import type { Turn } from '../../../functions/reconcile/plan-turns.ts';
import { hintRecord } from '../../support/hint-records.ts';

const told = ({ hint, records }: Turn): string =>
  `${hint.key.name} ${hint.reason} ${records.map(({ messageId }) => messageId).join('+')}`;

describe('turns of a batch', () => {
  it('are one for each key, in lanes by group', () => {
    const { lanes, wary, refused } = planTurns([
      hintRecord({ id: 'a1', name: 'a' }),
      hintRecord({ id: 'b1', name: 'b', group: 'west-1/lane-03' }),
      hintRecord({ id: 'a2', name: 'a' }),
      hintRecord({ id: 'c1', name: 'c', group: 'west-1/lane-03' }),
      hintRecord({ id: 'b2', name: 'b', group: 'west-1/lane-03' }),
    ]);
    assert.deepEqual(
      lanes.map((turns) => turns.map(told)),
      [['a changed a1+a2'], ['b changed b1+b2', 'c changed c1']],
    );
    assert.deepEqual([wary, refused], [[], []]);
  });

  it('say due for all when the timer of one is gone (protocol 12)', () => {
    for (const reasons of [
      ['due', 'changed'],
      ['changed', 'due'],
    ] as const) {
      const records = reasons.map((reason, index) => hintRecord({ id: `a${index}`, reason }));
      assert.deepEqual(planTurns(records).lanes.flat().map(told), ['agent due a0+a1']);
    }
  });

  it('are two for a key of two clusters with the same id, one after the other', () => {
    const records = [
      hintRecord({ id: 'a1', clusterUid: 'uid-before' }),
      hintRecord({ id: 'a2', clusterUid: 'uid-now' }),
    ];
    const [lane = []] = planTurns(records).lanes;
    assert.deepEqual(
      lane.map(({ hint }) => hint.clusterUid),
      ['uid-before', 'uid-now'],
    );
  });

  it('are taken alone when they were received again and again, in another order each time (L4)', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const orderAt = (receives: number): string =>
      planTurns(names.map((name) => hintRecord({ id: name, name, receives })))
        .wary.map(({ hint }) => hint.key.name)
        .join('');
    assert.equal(orderAt(WARY_RECEIVES_MIN - 1), '');
    const orders = new Set([3, 4, 5, 6, 7, 8].map(orderAt));
    assert.ok(orders.size > 3, [...orders].join(' '));
    assert.equal(new Set([...orders].map((order) => order[0])).size > 1, true);
  });

  it('leave out what is no hint, with its refusal', () => {
    const { refused, lanes } = planTurns([{ ...hintRecord({ id: 'x' }), body: '{"schema":9}' }]);
    assert.deepEqual([refused.map(({ record }) => record.messageId), lanes], [['x'], []]);
  });
});
