/**
 * Lost canary nodes in words, and when there is something new to tell.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLosses, hasNewLoss } from '../../../../src/core/rollout/gate-words.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { CanaryLoss } from '../../../../src/core/model/rollout-record.ts';

function loss(
  node: string,
  options: { added?: string; isOver?: true; atMs?: number } = {},
): CanaryLoss {
  const { added, isOver, atMs = 1 } = options;
  return {
    node: nodeName(node),
    atMs,
    ...(isOver === undefined ? {} : { isOver }),
    ...(added === undefined ? {} : { added: nodeName(added) }),
  };
}

describe('lost canaries in words', () => {
  it('name who is lost now, and who goes in their place', () => {
    assert.equal(describeLosses([]), '');
    assert.equal(describeLosses([loss('n1', { isOver: true, added: 'n7' })]), '');
    assert.equal(describeLosses([loss('n1')]), 'n1 is not Ready and counts for nothing');
    assert.equal(
      describeLosses([loss('n1', { added: 'n7' })]),
      'n1 is not Ready and counts for nothing; n7 goes in its place',
    );
    assert.equal(
      describeLosses([loss('n1', { added: 'n7' }), loss('n2', { added: 'n8' }), loss('n3')]),
      'n1, n2, n3 are not Ready and count for nothing; n7, n8 go in their place',
    );
  });

  it('are new with a loss, with another of the same node, and with who is added', () => {
    const known = [loss('n1')];
    assert.equal(hasNewLoss([], known), true);
    assert.equal(hasNewLoss(known, known), false);
    assert.equal(hasNewLoss(known, [loss('n1', { atMs: 2 })]), true);
    assert.equal(hasNewLoss(known, [loss('n1', { isOver: true })]), false);
    assert.equal(hasNewLoss(known, [loss('n1', { added: 'n7' })]), true);
    const added = [loss('n1', { added: 'n7' })];
    assert.equal(hasNewLoss(added, known), false, 'the added one is gone: another one is told');
  });
});
