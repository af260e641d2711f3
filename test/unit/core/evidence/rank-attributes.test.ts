/** What the bad nodes of a breach have in common (rollouts facts 4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RANKED_MAX, rankAttributes } from '../../../../src/core/evidence/rank-attributes.ts';
import type { RankedNode } from '../../../../src/core/evidence/rank-attributes.ts';
import { nthNode } from '../../../support/evidence-fixtures.ts';

const KERNELS = ['6.1', '6.6'];
const ZONES = ['a', 'b', 'c'];

/** Nodes that differ by zone, kernel (with it the OS image) and instance type. */
function nodesOf(count: number, isBad: (kernel: string, index: number) => boolean): RankedNode[] {
  return Array.from({ length: count }, (_, index) => {
    const kernel = KERNELS[index % 2] ?? '';
    return {
      name: nthNode(index),
      isBad: isBad(kernel, index),
      labels: {
        'topology.kubernetes.io/zone': ZONES[index % 3] ?? '',
        'node.kubernetes.io/instance-type': `type-${String(index % 14)}`,
      },
      system: {
        kernelVersion: kernel,
        osImage: `image of ${kernel}`,
        containerRuntimeVersion: 'containerd://2',
        kubeletVersion: 'v1.36.0',
        bootId: String(index),
      },
    };
  });
}

describe('rankAttributes', () => {
  it('claims a kernel on which all nodes fail, with the OS image that splits alike', () => {
    const ranking = rankAttributes(nodesOf(30, (kernel) => kernel === '6.6'));
    assert.ok(ranking.kind === 'claim');
    assert.deepEqual(ranking.cause.values, [
      { attribute: 'kernel', value: '6.6' },
      { attribute: 'os-image', value: 'image of 6.6' },
    ]);
    const { withBad, withAll, withoutBad, withoutAll } = ranking.cause;
    assert.deepEqual(
      { withBad, withAll, withoutBad, withoutAll },
      { withBad: 15, withAll: 15, withoutBad: 0, withoutAll: 15 },
    );
  });

  it('lists, and never claims, of ten nodes or fewer', () => {
    const of = (count: number): readonly RankedNode[] => {
      return nodesOf(count, (kernel) => kernel === '6.6').map((one) => ({ ...one, labels: {} }));
    };
    const ranking = rankAttributes(of(10));
    assert.equal(ranking.kind, 'list');
    assert.equal(ranking.ranked[0]?.values[0].value, '6.6');
    assert.equal(rankAttributes(of(11)).kind, 'claim');
  });

  it('lists what one bad node has, and claims nothing', () => {
    const ranking = rankAttributes(nodesOf(30, (_, index) => index === 7));
    assert.equal(ranking.kind, 'list');
    assert.ok(ranking.ranked.length <= RANKED_MAX);
  });

  it('an attribute of many values does not win by chance: p counts times its values', () => {
    // All four are of one kernel of two; two of them are of one type of fourteen, which by p alone would be first.
    const ranking = rankAttributes(nodesOf(30, (_, index) => [1, 5, 7, 15].includes(index)));
    const [first, second] = ranking.ranked;
    assert.equal(first?.values[0].attribute, 'kernel');
    const type = ranking.ranked.find(({ values }) => values[0].attribute === 'instance-type');
    assert.ok(type === undefined || type.p < first.p);
    assert.ok(second !== undefined && second.score >= first.score);
  });

  it('says nothing of nodes that are all alike, all bad, or none', () => {
    const alike = nodesOf(30, () => true).map((one) => ({
      ...one,
      labels: {},
      system: nodesOf(1, () => true)[0]?.system,
    }));
    assert.deepEqual(rankAttributes(alike.map(({ system: _system, ...one }) => one)), {
      kind: 'list',
      ranked: [],
    });
    assert.deepEqual(rankAttributes(nodesOf(30, () => true)).ranked, []);
    assert.deepEqual(rankAttributes(nodesOf(30, () => false)).ranked, []);
    assert.deepEqual(rankAttributes([]), { kind: 'list', ranked: [] });
  });

  it('is the same in any order of nodes', () => {
    const nodes = nodesOf(40, (kernel, index) => kernel === '6.6' && index % 4 !== 3);
    assert.deepEqual(rankAttributes(nodes.toReversed()), rankAttributes(nodes));
  });
});
