/**
 * Percentages while nodes come and go: what may be down is of the fewer nodes, what is kept of the more.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_each, index) => `n${String(index).padStart(3, '0')}`);

function world(count: number, options: Parameters<typeof policy>[0]): StagedWorld {
  return new StagedWorld({
    nodes: names(count).map((name) => node(name)),
    policy: policy({ soakMs: 10 * MINUTE_MS, ...options }),
  });
}

/** Nodes leave, with their pods, until so many are left; the canary stays. */
function scaleIn(made: StagedWorld, left: number): void {
  const canary = new Set(made.record?.canary ?? []);
  const others = [...made.nodes.keys()].filter((name) => !canary.has(name));
  const leaving = new Set(others.slice(left - canary.size));
  for (const name of leaving) made.nodes.delete(name);
  for (const [name, { targetNode }] of made.pods) {
    if (targetNode !== undefined && leaving.has(targetNode)) made.pods.delete(name);
  }
}

describe('a rollout whose nodes leave while its canary soaks', () => {
  it('takes no more down at once than the percentage of those that are left', () => {
    const made = world(20, { maxUnavailable: { kind: 'percent', percent: 20 } });
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.count('bbbb') === 1));
    made.tick(MINUTE_MS);
    scaleIn(made, 4);
    made.unreadyNodesMax = 0;
    assert.ok(made.until(() => made.record?.step.kind === 'done'));
    assert.equal(made.count('bbbb'), 4);
    assert.equal(made.unreadyNodesMax, 1);
  });

  it('keeps as many at its partition as when it began', () => {
    const made = world(20, { partition: { kind: 'percent', percent: 50 } });
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.count('bbbb') === 1));
    scaleIn(made, 12);
    made.until(() => made.plan?.stages?.gate.kind === 'done');
    assert.equal(made.count('aaaa'), 10);
  });
});

describe('a rollout whose nodes multiply while its canary soaks', () => {
  it('takes no more down at once than the percentage of those of the beginning, and keeps the percentage of all', () => {
    const made = world(10, {
      maxUnavailable: { kind: 'percent', percent: 10 },
      partition: { kind: 'percent', percent: 50 },
    });
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.count('bbbb') === 1));
    for (const name of names(40).slice(10)) made.setNode(node(name).name, {});
    made.tick(MINUTE_MS);
    made.unreadyNodesMax = 0;
    made.until(() => made.plan?.stages?.gate.kind === 'done');
    assert.equal(made.unreadyNodesMax, 1);
    assert.equal(made.count('aaaa'), 20);
  });
});
