/**
 * Staged rollouts as they go on, in copilot and in takeover: what is replaced when, and what stops it (issue 17).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { node } from '../../../support/core-fixtures.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { StagedWorld, policy, type Behaviour } from '../../../support/staged-world.ts';

const ZONE = 'topology.kubernetes.io/zone';
const MINUTE_MS = 60_000;
const MODES = ['copilot', 'takeover'] as const;

function nodes(
  count: number,
  options: { readonly zones?: number } = {},
): readonly NodeProjection[] {
  const { zones = 3 } = options;
  return Array.from({ length: count }, (_each, index) =>
    node(`n${String(index).padStart(3, '0')}`, {
      labels: { [ZONE]: `zone-${'abcdefgh'.charAt(index % zones)}` },
    }),
  );
}

function canary(count: number): RolloutPolicy['canary'] {
  return { kind: 'share', share: { kind: 'count', count }, spread: [] };
}

const STAGED: Partial<RolloutPolicy> = {
  maxUnavailable: { kind: 'percent', percent: 20 },
  canary: canary(3),
  soakMs: 10 * MINUTE_MS,
  order: [{ label: ZONE, values: [], isLast: false }],
};

const CRASHES: Behaviour = {
  trouble: (ageMs) =>
    ageMs < 30_000
      ? undefined
      : {
          restarts: 2,
          waiting: 'CrashLoopBackOff',
          lastExit: { reason: 'Error', exitCode: 1 },
          container: 'main',
        },
  ready: (ageMs) => ({ isReady: ageMs > 5_000 && ageMs < 20_000, sinceMs: 0 }),
};
const BAD_IMAGE: Behaviour = {
  trouble: (ageMs) =>
    ageMs < 5_000 ? undefined : { waiting: 'ImagePullBackOff', container: 'main' },
  ready: () => ({ isReady: false, sinceMs: 0 }),
};
const LEAKS: Behaviour = {
  trouble: (ageMs) =>
    ageMs < 4 * MINUTE_MS
      ? undefined
      : { restarts: 1, lastExit: { reason: 'OOMKilled', exitCode: 137 }, container: 'main' },
};

it('a rollout begins on a node whose pod serves nobody: such pods use up the budget that any other one waits for', () => {
  const names = ['n1', 'n2', 'n3'];
  const canary = names.map((name) => nodeName(name));
  const openOf = (...ready: readonly boolean[]): readonly string[] => {
    const nodes = ready.map((isReady, index) =>
      stageNode(names[index] ?? '', { pod: { isReady } }),
    );
    const { open } = advanceStages(stagesInput({ record: record({ canary }), nodes }));
    return [...open];
  };
  assert.deepEqual(openOf(true, true, true), ['n1']);
  assert.deepEqual(openOf(true, false, false), ['n2']);
});

for (const mode of MODES) {
  describe(`a staged rollout in ${mode}`, () => {
    const start = (options: Partial<RolloutPolicy> = {}, count = 12): StagedWorld =>
      new StagedWorld({ nodes: nodes(count), policy: policy({ ...STAGED, ...options }), mode });

    it('goes through its canary, soaks, then group by group, and proves the revision', () => {
      const world = start();
      assert.equal(world.record?.proven?.hash, 'aaaa');
      world.hash = 'bbbb';
      assert.ok(world.until(() => world.count('bbbb') === 3));
      const canaries = new Set(world.record?.canary);
      assert.equal(canaries.size, 3);
      assert.deepEqual(
        new Set(world.made.map((each) => each.split(' ')[0])),
        new Set([...canaries].map(String)),
      );
      world.tick(9 * MINUTE_MS);
      assert.equal(world.count('bbbb'), 3, 'soaks');
      assert.ok(world.until(() => world.count('bbbb') === 12));
      const zones = world.made.slice(3).map((each) => {
        const name = nodeName(each.split(' ')[0] ?? '');
        return world.nodes.get(name)?.labels[ZONE] ?? '';
      });
      assert.deepEqual(zones, [...zones].sort(), 'zone by zone');
      assert.ok(world.until(() => world.record?.step.kind === 'done'));
      assert.equal(world.record?.proven?.hash, 'bbbb');
      assert.equal(world.record.proven.isBaseline, false);
      assert.ok(world.unreadyNodesMax <= 3, String(world.unreadyNodesMax));
    });

    it('replaces one node first, and no other until its successor is there', () => {
      const world = start();
      world.hash = 'bbbb';
      world.behaviours.set('bbbb', { isRefused: true });
      world.tick(1_000);
      assert.equal(world.deleted.length, 1);
      world.until(() => false, { maxMs: 10 * MINUTE_MS });
      assert.equal(world.deleted.length, 1);
      const cause = world.record?.breach?.cause;
      assert.equal(cause, mode === 'copilot' ? 'NotRecreated' : 'CreateRefused');
    });

    for (const [name, behaviour, cause] of [
      ['a bad image', BAD_IMAGE, 'StartFailure'],
      ['a crash loop', CRASHES, 'Restarts'],
      ['a slow leak', LEAKS, 'OOMKilled'],
    ] as const) {
      it(`halts on the canary for ${name}, and names the cause`, () => {
        const world = start();
        world.hash = 'bbbb';
        world.behaviours.set('bbbb', behaviour);
        assert.ok(world.until(() => world.record?.breach !== undefined));
        assert.equal(world.record?.breach?.cause, cause);
        world.until(() => false, { maxMs: 20 * MINUTE_MS });
        assert.ok(world.deleted.length <= 3, `${String(world.deleted.length)} nodes were touched`);
        assert.ok(world.events.some((event) => event.startsWith('RolloutHalted')));
        assert.equal(
          world.events.filter((event) => event.startsWith('RolloutHalted')).length,
          1,
          'told once',
        );
      });
    }

    it('holds the same bad revision when it comes again', () => {
      const world = start();
      world.hash = 'bbbb';
      world.behaviours.set('bbbb', BAD_IMAGE);
      world.until(() => world.record?.breach !== undefined);
      world.hash = 'aaaa';
      world.until(() => world.count('aaaa') === 12);
      assert.equal(world.count('aaaa'), 12, 'an undo needs no canary');
      world.hash = 'bbbb';
      world.until(() => false, { maxMs: 10 * MINUTE_MS });
      assert.equal(world.count('bbbb'), 0);
      assert.equal(world.record?.breach?.cause, 'KnownBad');
    });

    it('waits for an approval, and for its window', () => {
      const world = start({ approval: 'after-canary', soakMs: MINUTE_MS });
      world.hash = 'bbbb';
      world.until(() => world.plan?.stages?.gate.kind === 'approval');
      world.until(() => false, { maxMs: 20 * MINUTE_MS });
      assert.equal(world.count('bbbb'), 3);
      const { record } = world;
      assert.ok(record !== undefined);
      const { step, proven } = record;
      assert.ok(step.soakedAtMs !== undefined, 'a fleet goes on by it');
      assert.notEqual(proven?.hash, 'bbbb', 'nodes that join would be given it');
      assert.ok(step.soakedAtMs >= (step.wellSinceMs ?? Infinity) + MINUTE_MS);
      const approved = { by: 'somebody', atMs: world.nowMs, stepIndex: record.step.index + 1 };
      world.record = { ...record, orders: { approved } };
      assert.ok(world.until(() => world.count('bbbb') === 12));
      assert.equal(world.record.step.soakedAtMs, undefined);
    });

    it('does nothing while it is paused, and goes on after', () => {
      const world = start({ soakMs: 0 });
      world.hash = 'bbbb';
      world.until(() => world.count('bbbb') > 5);
      world.policy = { ...world.policy, isPaused: true };
      const before = world.deleted.length;
      world.until(() => false, { maxMs: 20 * MINUTE_MS });
      assert.equal(world.deleted.length, before);
      world.policy = { ...world.policy, isPaused: false };
      assert.ok(world.until(() => world.count('bbbb') === 12));
    });

    it('takes silence for no success', () => {
      const world = start();
      world.hash = 'bbbb';
      world.until(() => world.count('bbbb') === 3);
      world.isViewFresh = false;
      world.until(() => false, { maxMs: 20 * MINUTE_MS });
      assert.equal(world.count('bbbb'), 3);
      // A heartbeat that makes the view fresh again wakes no key: a timer does.
      assert.ok((world.plan?.dueAtMs ?? Infinity) <= world.nowMs + 5 * MINUTE_MS);
      world.isViewFresh = true;
      world.tick(1_000);
      world.tick(9 * MINUTE_MS);
      assert.equal(world.count('bbbb'), 3, 'the soak begins anew');
      assert.ok(world.until(() => world.count('bbbb') === 12));
    });

    it('keeps a part at the old revision, and lets it go when the partition is lowered', () => {
      const world = start({ soakMs: 0, partition: { kind: 'percent', percent: 50 } });
      world.hash = 'bbbb';
      world.until(() => false, { maxMs: 20 * MINUTE_MS });
      assert.equal(world.count('bbbb'), 6);
      assert.equal(world.plan?.stages?.gate.kind, 'done');
      const { partition: _raised, ...rest } = world.policy;
      world.policy = rest;
      assert.ok(world.until(() => world.count('bbbb') === 12));
    });

    it('ends where a partition stops it in the middle of a group, and looks no more', () => {
      const world = start({ soakMs: MINUTE_MS, partition: { kind: 'count', count: 7 } });
      world.hash = 'bbbb';
      const isDone = (): boolean => world.plan?.stages?.gate.kind === 'done';
      world.until(() => world.count('bbbb') === 5 && isDone());
      assert.deepEqual(world.plan?.stages?.gate, {
        kind: 'done',
        keptNodes: 7,
        notReadyNodes: 0,
        unwellNodes: 0,
      });
      assert.equal(world.plan.dueAtMs, undefined);
    });

    it('counts its deadline from the end of a pause', () => {
      const world = start({ soakMs: 0, progressDeadlineMs: 10 * MINUTE_MS });
      world.hash = 'bbbb';
      world.behaviours.set('bbbb', { readyAfterMs: 2 * MINUTE_MS });
      world.until(() => world.count('bbbb') > 4);
      world.policy = { ...world.policy, isPaused: true };
      world.until(() => false, { maxMs: 60 * MINUTE_MS });
      world.policy = { ...world.policy, isPaused: false };
      world.tick(1_000);
      assert.equal(world.record?.breach, undefined);
      assert.ok(world.until(() => world.count('bbbb') === 12));
    });

    it('opens nothing for a canary selector that matches no node', () => {
      const world = start({
        canary: { kind: 'selector', selector: { matchLabels: { pool: 'x' } } },
      });
      world.hash = 'bbbb';
      world.until(() => false, { maxMs: 30 * MINUTE_MS });
      assert.equal(world.deleted.length, 0);
      assert.equal(world.plan?.stages?.gate.kind, 'no-canary');
    });
  });
}

describe('stage-true revisions, in takeover', () => {
  const start = (options: Partial<RolloutPolicy> = {}): StagedWorld =>
    new StagedWorld({ nodes: nodes(20), policy: policy({ ...STAGED, ...options }) });

  it('give a node that joins during the canary the good revision', () => {
    const world = start();
    world.hash = 'bbbb';
    world.until(() => world.count('bbbb') === 3);
    world.setNode(nodeName('joined'), { labels: { [ZONE]: 'zone-a' } });
    world.tick(5_000);
    assert.equal(world.hashes()['joined'], 'aaaa');
    const other = [...world.nodes.keys()].find((name) => !world.record?.canary.includes(name));
    assert.ok(other !== undefined);
    world.evict(other);
    world.tick(5_000);
    assert.equal(world.hashes()[other], 'aaaa');
    assert.ok(world.until(() => world.count('bbbb') === 21));
  });

  it('put nodes back when the partition is raised', () => {
    const world = start({ soakMs: 0 });
    world.hash = 'bbbb';
    assert.ok(world.until(() => world.count('bbbb') === 20));
    world.policy = { ...world.policy, partition: { kind: 'count', count: 15 } };
    assert.ok(world.until(() => world.count('bbbb') === 5));
    world.until(() => false, { maxMs: 10 * MINUTE_MS });
    assert.equal(world.count('bbbb'), 5);
    const canaries = world.record?.canary ?? [];
    assert.ok(
      canaries.every((name) => world.hashes()[name] === 'bbbb'),
      'the canary last of all',
    );
  });

  it('are counted off as an operator sends nodes back', () => {
    const world = start();
    world.hash = 'bbbb';
    world.until(() => world.count('bbbb') === 3);
    const { record } = world;
    assert.equal(record?.step.updatedNodes, 3);
    world.record = { ...record, orders: { undo: { by: 'ann', atMs: world.nowMs, to: 'aaaa' } } };
    assert.ok(world.until(() => world.count('aaaa') === 20));
    world.tick(5_000);
    assert.equal(world.record.step.updatedNodes, 0);
  });

  it('roll back to the good revision after a breach, if the policy says so', () => {
    const world = start({ onHalt: 'rollback' });
    world.hash = 'bbbb';
    world.behaviours.set('bbbb', LEAKS);
    world.until(() => world.record?.breach !== undefined);
    assert.ok(world.until(() => world.count('aaaa') === 20));
    world.until(() => false, { maxMs: 20 * MINUTE_MS });
    assert.equal(world.count('aaaa'), 20);
    assert.equal(world.record?.proven?.hash, 'aaaa');
  });
});
