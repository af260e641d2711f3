/**
 * What is remembered of lost canary nodes, which of them are replaced, and when that one is lost as well.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  LOSSES_MAX,
  SETTLED_MS,
  addedNodes,
  findLostAgain,
  lossMoments,
  lossesToReplace,
  noteLosses,
} from '../../../../src/core/stages/canary-losses.ts';
import type { SeenCanary } from '../../../../src/core/stages/canary-losses.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { CanaryLoss, NodeFailure } from '../../../../src/core/model/rollout-record.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((name) => nodeName(name)) as [
  ReturnType<typeof nodeName>,
  ReturnType<typeof nodeName>,
  ReturnType<typeof nodeName>,
  ReturnType<typeof nodeName>,
];

const seen = (name: typeof A, isLost = true): SeenCanary => ({ name, stratum: 'zone-a', isLost });
const lost = (node: typeof A, options: Partial<CanaryLoss> = {}): CanaryLoss => ({
  node,
  atMs: NOW_MS - SETTLED_MS,
  ...options,
});
const peer = (options: Partial<NodeFailure> = {}): NodeFailure => ({
  node: D,
  stratum: 'zone-a',
  isUpdated: false,
  atMs: NOW_MS,
  isCounted: true,
  ...options,
});

function note(
  known: readonly CanaryLoss[],
  at: Partial<Parameters<typeof noteLosses>[1]>,
): readonly CanaryLoss[] {
  return noteLosses(known, { seen: [], canary: [A, B, C], failures: [], nowMs: NOW_MS, ...at });
}

describe('losses of a canary', () => {
  it('are noted once, with the first look that sees them', () => {
    const first = note([], { seen: [seen(A), seen(B, false)] });
    assert.deepEqual(first, [{ node: A, atMs: NOW_MS }]);
    assert.deepEqual(note(first, { seen: [seen(A)], nowMs: NOW_MS + 5 }), first);
  });

  it('are over when the node is Ready or has nothing to show, and begin anew when it is lost again', () => {
    const known = [lost(A, { isShared: true, added: B })];
    const over = note(known, { seen: [seen(A, false)] });
    assert.deepEqual(over, [{ ...lost(A), isOver: true, isShared: true, added: B }]);
    assert.deepEqual(note(known, { seen: [] })[0]?.isOver, true);
    assert.deepEqual(note(over, { seen: [seen(A)] }), [{ node: A, atMs: NOW_MS, added: B }]);
  });

  it('are shared with peers of the stratum that are not updated, within five minutes, also told later', () => {
    const isShared = (failure: NodeFailure): boolean =>
      note([lost(A)], { seen: [seen(A)], failures: [failure] })[0]?.isShared === true;
    assert.equal(isShared(peer()), true);
    assert.equal(isShared(peer({ isUpdated: true })), false);
    assert.equal(isShared(peer({ stratum: 'zone-b' })), false);
    assert.equal(isShared(peer({ atMs: NOW_MS - SETTLED_MS + 300_001 })), false);
    assert.equal(isShared(peer({ atMs: NOW_MS - SETTLED_MS - 300_001 })), false);
    assert.equal(note([], { seen: [seen(A)], failures: [peer()] })[0]?.isShared, true);
    const forgotten = note([lost(A, { isShared: true })], { seen: [seen(A)] });
    assert.equal(forgotten[0]?.isShared, true, 'a trial keeps few failures');
  });

  it('forget who was added once that one is in the canary no more', () => {
    const known = [lost(A, { added: B })];
    assert.deepEqual([...addedNodes(note(known, { seen: [seen(A)] }))], [B]);
    assert.deepEqual([...addedNodes(note(known, { seen: [seen(A)], canary: [A] }))], []);
  });

  it('are bounded, the oldest kept', () => {
    const many = Array.from({ length: LOSSES_MAX + 5 }, (_, at) =>
      seen(nodeName(`n${String(at)}`)),
    );
    const found = note([lost(A)], { seen: [seen(A), ...many] });
    assert.equal(found.length, LOSSES_MAX);
    assert.equal(found[0]?.node, A);
  });

  it('are looked at again once each is settled', () => {
    assert.deepEqual(lossMoments([lost(A), lost(B, { isOver: true })]), [NOW_MS]);
    assert.deepEqual(lossMoments(undefined), []);
  });
});

describe('in the place of lost canaries', () => {
  const replaced = (losses: readonly CanaryLoss[], mostAdded = 10, resumedAtMs?: number) =>
    lossesToReplace(losses, {
      nowMs: NOW_MS,
      mostAdded,
      ...(resumedAtMs === undefined ? {} : { resumedAtMs }),
    }).map(({ node }) => node);

  it('goes one for all that nobody shares, and one for each that peers share', () => {
    assert.deepEqual(replaced([lost(A), lost(B)]), [A]);
    assert.deepEqual(replaced([lost(A, { added: D }), lost(B)]), []);
    assert.deepEqual(replaced([lost(A, { isShared: true }), lost(B, { isShared: true })]), [A, B]);
    assert.deepEqual(replaced([lost(A, { added: D, isShared: true }), lost(B)]), [B]);
  });

  it('goes nobody for one that is over, nor beyond as many as there were', () => {
    assert.deepEqual(replaced([lost(A, { isOver: true })]), []);
    const shared = [A, B, C].map((node) => lost(node, { isShared: true }));
    assert.deepEqual(replaced(shared, 2), [A, B]);
    assert.deepEqual(replaced([lost(A, { added: D, isShared: true }), ...shared.slice(1)], 1), []);
  });

  it('go others for those that were lost before a breach was overruled', () => {
    const at = NOW_MS - SETTLED_MS;
    assert.deepEqual(replaced([lost(A, { added: D }), lost(B)], 10, at), [B]);
    assert.deepEqual(replaced([lost(A), lost(B)], 10, at - 1), [A]);
  });
});

describe('a node that was added', () => {
  const again = (losses: readonly CanaryLoss[], nowMs = NOW_MS, resumedAtMs = 0) =>
    findLostAgain(losses, { nowMs, resumedAtMs }).map(({ node }) => node);

  it('is lost as well after a minute, where no peers share either loss', () => {
    const both = [lost(A, { added: B }), lost(B)];
    assert.deepEqual(again(both), [B]);
    assert.deepEqual(again(both, NOW_MS - 1), [], 'its peers may not be seen yet');
    assert.deepEqual(again([lost(A, { added: B, isOver: true }), lost(B)]), [B]);
  });

  it('is not where it is back, its peers died, those of the first did, or it was overruled', () => {
    assert.deepEqual(again([lost(A, { added: B }), lost(B, { isOver: true })]), []);
    assert.deepEqual(again([lost(A, { added: B }), lost(B, { isShared: true })]), []);
    assert.deepEqual(again([lost(A, { added: B, isShared: true }), lost(B)]), []);
    assert.deepEqual(again([lost(A, { added: C }), lost(B)]), [], 'that one was not added');
    assert.deepEqual(again([lost(A, { added: B }), lost(B)], NOW_MS, NOW_MS - SETTLED_MS), []);
  });
});
