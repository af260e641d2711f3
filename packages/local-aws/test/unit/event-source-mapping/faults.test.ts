/** Faults from a seed: repeatable, as often as asked for, and never against the order inside a group. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { planFaults } from '../../../src/event-source-mapping/faults.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { sqsRecord } from './record-fixture.ts';

describe('faults', () => {
  it('do nothing unless they are asked for', () => {
    const records = [sqsRecord('1', 'g')];
    const expected = { records, delayMs: 0, isDropped: false, duplication: 'none' };
    assert.deepEqual(planFaults(records, undefined, seededRandom(1)), expected);
    assert.deepEqual(planFaults(records, {}, seededRandom(1)), expected);
  });

  it('come as often as their probability says, and the same again from the same seed', () => {
    const faults = { drop: 0.1, duplicate: 0.3, delay: 0.5 };
    const plan = (seed: number): string[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 2000 }, () => {
        const { isDropped, duplication, delayMs } = planFaults([sqsRecord('1')], faults, random);
        return `${isDropped ? 'drop ' : ''}${duplication} ${delayMs > 0 ? 'delay' : ''}`;
      });
    };
    const plans = plan(7);
    assert.deepEqual(plans, plan(7));
    assert.notDeepEqual(plans, plan(8));
    const share = (word: string): number =>
      plans.filter((each) => each.includes(word)).length / plans.length;
    assert.ok(Math.abs(share('drop') - 0.1) < 0.03, `dropped ${share('drop')}`);
    assert.ok(Math.abs(share('delay') - 0.5) < 0.05, `delayed ${share('delay')}`);
    assert.ok(Math.abs(1 - share('none') - 0.3) < 0.05, `not duplicated ${share('none')}`);
    for (const kind of ['concurrent', 'before-delete', 'after-delete']) {
      assert.ok(share(kind) > 0.05, kind);
    }
  });

  it('reorder across groups and never inside one', () => {
    const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(groups, fc.integer(), (groupIds, seed) => {
        const records = groupIds.map((groupId, index) => sqsRecord(String(index), groupId));
        const plan = planFaults(records, { reorder: 1 }, seededRandom(seed));
        assert.deepEqual(new Set(plan.records), new Set(records));
        for (const groupId of ['a', 'b', 'c']) {
          const order = plan.records
            .filter((record) => record.attributes.MessageGroupId === groupId)
            .map((record) => Number(record.body));
          assert.deepEqual(
            order,
            order.toSorted((left, right) => left - right),
          );
        }
      }),
    );
  });
});
