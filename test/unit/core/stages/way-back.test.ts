/**
 * The way back to a good release in values: in which order nodes go, and what stops it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { NOW_MS, node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy, type Behaviour } from '../../../support/staged-world.ts';

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const PULL_FAILS: Behaviour = {
  ready: () => ({ isReady: false, sinceMs: NOW_MS }),
  trouble: (ageMs) =>
    ageMs < 5000 ? undefined : { waiting: 'ImagePullBackOff', container: 'agent' },
};
const KILLED: Behaviour = {
  trouble: () => ({
    restarts: 1,
    lastExit: { container: 'agent', reason: 'OOMKilled', exitCode: 137 },
  }),
};

/** All nodes run `bbbb`, which was good as well; `late` joined since. */
function bothGood(
  options: Partial<RolloutPolicy> = {},
  mode: 'takeover' | 'copilot' = 'takeover',
): StagedWorld {
  const made = new StagedWorld({
    nodes: NAMES.map((name) => node(name, { createdAtMs: NOW_MS - 1 })),
    policy: policy(options),
    mode,
  });
  made.hash = 'bbbb';
  assert.ok(made.until(() => made.record?.step.kind === 'done' && made.count('bbbb') === 6));
  made.tick(30_000);
  assert.deepEqual(
    made.record?.good.map(({ hash }) => hash),
    ['bbbb', 'aaaa'],
  );
  made.nodes.set(nodeName('late'), node('late', { createdAtMs: made.nowMs }));
  made.until(() => made.count('bbbb') === 7);
  made.tick(30_000);
  return made;
}

describe('a return', () => {
  it('goes to nodes on which the release never ran after all others', () => {
    const made = bothGood();
    made.hash = 'aaaa';
    made.made.length = 0;
    assert.ok(made.until(() => made.count('aaaa') === 7));
    assert.equal(made.made.at(-1), 'late aaaa');
    assert.equal(made.unreadyNodesMax <= 2, true);
  });

  it('keeps to the nodes that the policy leaves in, and passes over the partition', () => {
    const made = bothGood();
    made.policy = policy({
      exclude: { matchLabels: { pinned: 'yes' } },
      partition: { kind: 'count', count: 5 },
    });
    made.setNode(nodeName('n1'), { labels: { pinned: 'yes' } });
    made.hash = 'aaaa';
    assert.ok(made.until(() => made.count('aaaa') === 6));
    made.tick(600_000);
    assert.equal(made.hashes()['n1'], 'bbbb');
  });

  for (const mode of ['takeover', 'copilot'] as const) {
    it(`is stopped by pods that cannot start, with a cause of its own (${mode})`, () => {
      const made = bothGood({}, mode);
      made.behaviours.set('aaaa', PULL_FAILS);
      made.hash = 'aaaa';
      assert.ok(made.until(() => made.record?.breach !== undefined));
      assert.equal(made.record?.breach?.cause, 'ReturnFailed');
      assert.match(made.record.breach.message, /^StartFailure, on the way back: /);
      assert.ok(made.count('bbbb') >= 4);
      made.hash = 'cccc';
      made.tick(1000);
      assert.deepEqual(made.record.refused, [], 'it is good, though it cannot return');
    });
  }

  it('is stopped by pods that cannot be created', () => {
    const made = bothGood();
    made.behaviours.set('aaaa', { isRefused: true });
    made.hash = 'aaaa';
    assert.ok(made.until(() => made.record?.breach !== undefined));
    assert.match(made.record?.breach?.message ?? '', /^CreateRefused, on the way back: /);
  });

  it('is not stopped by what a release did that was good on its nodes, but by what it does where it never ran', () => {
    const made = bothGood();
    made.behaviours.set('aaaa', KILLED);
    made.hash = 'aaaa';
    assert.ok(made.until(() => made.count('aaaa') === 7));
    assert.ok(made.until(() => made.record?.breach !== undefined));
    assert.match(made.record?.breach?.message ?? '', /^OOMKilled, on the way back: /);
    assert.deepEqual(made.record?.breach?.nodes, ['late']);
  });

  it('is watched no more once it is over', () => {
    const made = bothGood();
    made.hash = 'aaaa';
    assert.ok(made.until(() => made.record?.returnedAtMs !== undefined));
    made.behaviours.set('aaaa', KILLED);
    made.tick(3_600_000);
    assert.equal(made.record?.breach, undefined);
  });

  it('goes on when it is resumed, past the pods that stopped it', () => {
    const made = bothGood();
    made.behaviours.set('aaaa', PULL_FAILS);
    made.hash = 'aaaa';
    assert.ok(made.until(() => made.record?.breach !== undefined));
    const { record } = made;
    assert.ok(record?.breach);
    const { breach, ...rest } = record;
    made.record = { ...rest, orders: { resumed: { by: 'ann', atMs: made.nowMs, breach } } };
    made.tick(1000);
    assert.equal(made.record?.breach, undefined);
  });
});

describe('a release', () => {
  it('is good once the partition of its policy was reached, and not before its soak', () => {
    const made = new StagedWorld({
      nodes: NAMES.map((name) => node(name)),
      policy: policy({ partition: { kind: 'count', count: 3 }, soakMs: 600_000 }),
    });
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.count('bbbb') === 3));
    assert.deepEqual(
      made.record?.good.map(({ hash }) => hash),
      ['aaaa'],
    );
    made.until(() => made.record?.good.length === 2);
    assert.deepEqual(
      made.record?.good.map(({ hash }) => hash),
      ['bbbb', 'aaaa'],
    );
  });

  it('is no good one where the partition keeps all nodes', () => {
    const made = new StagedWorld({
      nodes: NAMES.map((name) => node(name)),
      policy: policy({ partition: { kind: 'count', count: 6 } }),
    });
    made.hash = 'bbbb';
    made.tick(3_600_000);
    assert.deepEqual(
      made.record?.good.map(({ hash }) => hash),
      ['aaaa'],
    );
  });
});
