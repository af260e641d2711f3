/**
 * Groups of a staged rollout: by the values of labels, in an order that a person can predict.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrderRule } from '../../../../src/core/policy/rollout-policy.ts';
import { groupNodes } from '../../../../src/core/stages/steps.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const rule = (options: Partial<OrderRule> = {}): OrderRule => ({
  label: 'zone',
  values: [],
  isLast: false,
  ...options,
});

const NODES = [
  stageNode('n1', { labels: { zone: 'b', pool: 'x' } }),
  stageNode('n2', { labels: { zone: 'a', pool: 'y', control: '' } }),
  stageNode('n3', { labels: { zone: 'a', pool: 'x' } }),
  stageNode('n4', { labels: { pool: 'x' } }),
  stageNode('n5', { labels: { zone: 'c', pool: 'x', control: 'yes' } }),
];

function told(order: readonly OrderRule[]): readonly string[] {
  return groupNodes(NODES, order).map(
    ({ name, nodes }) => `${name}: ${nodes.map(({ node }) => node.name).join(' ')}`,
  );
}

describe('groups', () => {
  it('are one without an order', () => {
    assert.deepEqual(told([]), [': n1 n2 n3 n4 n5']);
  });

  it('go by the values of a label, nodes without it at the end', () => {
    assert.deepEqual(told([rule()]), ['a: n2 n3', 'b: n1', 'c: n5', '-: n4']);
  });

  it('take listed values first, in their order', () => {
    assert.deepEqual(told([rule({ values: ['c', 'b'] })]), ['c: n5', 'b: n1', 'a: n2 n3', '-: n4']);
  });

  it('go by the second label within the first', () => {
    assert.deepEqual(told([rule(), rule({ label: 'pool' })]), [
      'a/x: n3',
      'a/y: n2',
      'b/x: n1',
      'c/x: n5',
      '-/x: n4',
    ]);
  });

  it('leave what is last until all others are done, whatever stands before it', () => {
    assert.deepEqual(told([rule(), rule({ label: 'control', isLast: true })]), [
      'a: n3',
      'b: n1',
      '-: n4',
      'control/a: n2',
      'control=yes/c: n5',
    ]);
    assert.deepEqual(told([rule({ label: 'control', isLast: true, values: ['yes'] })]), [
      ': n1 n2 n3 n4',
      'control=yes: n5',
    ]);
  });

  it('name a label whose value is empty by its key', () => {
    assert.deepEqual(told([rule({ label: 'control' })]), ['control: n2', 'yes: n5', '-: n1 n3 n4']);
  });
});
