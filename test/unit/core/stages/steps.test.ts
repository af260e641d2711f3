/**
 * Which nodes are in open steps, and which group would be next.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep } from '../../../../src/core/model/rollout-record.ts';
import { findSteps } from '../../../../src/core/stages/steps.ts';
import { policy } from '../../../support/staged-world.ts';
import { record } from '../../../support/stage-records.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const NODES = [
  stageNode('a1', { labels: { zone: 'a' } }),
  stageNode('a2', { labels: { zone: 'a' }, is: 'well' }),
  stageNode('b1', { labels: { zone: 'b' } }),
  stageNode('b2', { labels: { zone: 'b' }, isExcluded: true }),
  stageNode('c1', { labels: { zone: 'c' } }),
];
const ORDERED = policy({ order: [{ label: 'zone', values: [], isLast: false }] });

function steps(step: Partial<OpenStep>): {
  readonly open: readonly string[];
  readonly next: string | undefined;
} {
  const canary = [nodeName('c1')];
  const found = findSteps(record({ step: { ...record().step, ...step }, canary }), NODES, ORDERED);
  return { open: found.open.map(({ node }) => node.name), next: found.next?.name };
}

describe('open steps', () => {
  it('are none while the rollout waits, and the canary first', () => {
    assert.deepEqual(steps({ kind: 'waiting' }), { open: [], next: 'a' });
    assert.deepEqual(steps({ kind: 'canary' }), { open: ['c1'], next: 'a' });
  });

  it('stay open, with all groups before the one that was opened last', () => {
    assert.deepEqual(steps({ kind: 'group', name: 'a' }), { open: ['a1', 'a2', 'c1'], next: 'b' });
  });

  it('leave out excluded nodes, and groups of which only canaries are left', () => {
    const open = ['a1', 'a2', 'b1', 'c1'];
    assert.deepEqual(steps({ kind: 'group', name: 'b' }), { open, next: undefined });
    assert.deepEqual(steps({ kind: 'done' }), { open, next: undefined });
  });

  it('are the canary alone when the order was edited and the group is gone', () => {
    assert.deepEqual(steps({ kind: 'group', name: 'gone' }), { open: ['c1'], next: 'a' });
  });
});
