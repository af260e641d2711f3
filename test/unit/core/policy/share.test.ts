// Percentages in whole numbers: the examples that people quote, and the rules behind them as properties.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  formatShare,
  keptNodesOf,
  limitNodesOf,
  nodesRoundedDown,
  nodesRoundedUp,
} from '../../../../src/core/policy/share.ts';
import type { Share } from '../../../../src/core/policy/rollout-policy.ts';

const percent = (value: number): Share => ({ kind: 'percent', percent: value });
const wholePercent = fc.integer({ min: 0, max: 100 });
const nodes = fc.integer({ min: 0, max: 100_000 });

describe('core/policy/share.ts', () => {
  it('a count is that count, whatever the nodes', () => {
    assert.equal(nodesRoundedUp({ kind: 'count', count: 10 }, 3), 10);
    assert.equal(nodesRoundedDown({ kind: 'count', count: 10 }, 3), 10);
  });

  it('of three nodes 10 % and 33 % are one when rounded up, 34 % are two', () => {
    assert.deepEqual(
      [10, 33, 34].map((value) => nodesRoundedUp(percent(value), 3)),
      [1, 1, 2],
    );
  });

  it('of three nodes 33 % are none when rounded down, 34 % are one', () => {
    assert.deepEqual(
      [33, 34, 99].map((value) => nodesRoundedDown(percent(value), 3)),
      [0, 1, 2],
    );
  });

  it('7 % of 100 nodes are 7 both ways: no fraction is lost or gained', () => {
    assert.equal(nodesRoundedUp(percent(7), 100), 7);
    assert.equal(nodesRoundedDown(percent(29), 100), 29);
  });

  it('up is the least number of nodes that is at least so many percent', () => {
    fc.assert(
      fc.property(wholePercent, nodes, (value, base) => {
        const up = nodesRoundedUp(percent(value), base);
        assert.ok(up * 100 >= value * base && (up - 1) * 100 < value * base, String(up));
      }),
    );
  });

  it('down and what it leaves are all nodes: of a partition and its complement none is lost', () => {
    fc.assert(
      fc.property(wholePercent, nodes, (value, base) => {
        const kept = nodesRoundedDown(percent(value), base);
        assert.equal(kept + nodesRoundedUp(percent(100 - value), base), base);
      }),
    );
  });

  it('a limit is of the fewer nodes, of then and now, and never none', () => {
    const limit = (then: number, now: number): number => limitNodesOf(percent(10), { then, now });
    assert.deepEqual([limit(300, 30), limit(30, 300), limit(300, 3), limit(300, 0)], [3, 3, 1, 1]);
    assert.equal(limitNodesOf({ kind: 'count', count: 5 }, { then: 300, now: 3 }), 5);
  });

  it('what keeps its pod is of the more nodes, of then and now', () => {
    const kept = (then: number, now: number): number => keptNodesOf(percent(50), { then, now });
    assert.deepEqual([kept(300, 30), kept(30, 300), kept(3, 1)], [150, 150, 1]);
    assert.equal(keptNodesOf({ kind: 'count', count: 5 }, { then: 300, now: 3 }), 5);
  });

  it('is written as a person would', () => {
    assert.deepEqual(
      [formatShare({ kind: 'count', count: 3 }), formatShare(percent(5))],
      ['3', '5%'],
    );
  });
});
