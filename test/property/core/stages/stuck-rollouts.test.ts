/**
 * Rollouts that get stuck upstream, or go on where they should not (what users of DaemonSets ask for, rows 1, 2, 3, 4, 8, 10, 16), replayed under a
 * policy with what happens here instead. Numbers are of kubernetes/kubernetes unless they name a repository.
 *
 * In values (StagedWorld), beside the built-in controller and in its place. Where whole runs are needed, the row says which test plays it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../../../../src/core/model/projections.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { NOW_MS, node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const ZONE = 'topology.kubernetes.io/zone';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const NEW = 'bbbb';

const nameOf = (index: number): string => `n${String(index).padStart(3, '0')}`;

function nodes(count: number, change: Partial<NodeProjection> = {}): readonly NodeProjection[] {
  return Array.from({ length: count }, (_each, index) =>
    node(nameOf(index), { labels: { [ZONE]: index % 2 === 0 ? 'a' : 'b' }, ...change }),
  );
}

const count = (of: number) => ({ kind: 'count', count: of }) as const;
const QUICK: Partial<RolloutPolicy> = { soakMs: MINUTE_MS };
const isDone = (world: StagedWorld): boolean =>
  world.record?.hash === NEW && world.record.step.kind === 'done';
const nodesDeleted = (world: StagedWorld): number => world.deleted.length;

const NEVER_READY = { ready: () => ({ isReady: false, sinceMs: NOW_MS }) };
const trouble = (value: PodProjection['trouble']) => ({ trouble: () => value });

for (const mode of ['copilot', 'takeover'] as const) {
  const start = (of: number, options: Partial<RolloutPolicy> = {}): StagedWorld =>
    new StagedWorld({ nodes: nodes(of), policy: policy({ ...QUICK, ...options }), mode });

  describe(`what users ask for, in ${mode}`, () => {
    it('want 1: one dead node and maxUnavailable 1 (#63465, #117204): it waits by parity, picks nobody twice, and goes on when the node is back', () => {
      const world = start(6);
      world.setNode(nodeName('n002'), { isReady: false });
      world.tick(1_000);
      world.hash = NEW;
      world.until(() => false, { maxMs: 3 * 60 * MINUTE_MS });
      assert.equal(world.count(NEW), 0, 'its budget is used up');
      assert.equal(nodesDeleted(world), 0, 'nothing is deleted in vain');
      assert.deepEqual(world.plan?.rollout?.unavailable, ['n002'], 'and it says by whom');
      world.setNode(nodeName('n002'), { isReady: true });
      assert.ok(world.until(() => isDone(world)));
      assert.equal(world.count(NEW), 6);
      assert.equal(nodesDeleted(world), 6);
    });

    it('want 1: the same with an attributed budget goes on past it (kubernetes/test-infra#31706)', () => {
      const world = start(6, { budget: 'attributed' });
      world.setNode(nodeName('n002'), { isReady: false });
      world.tick(1_000);
      world.hash = NEW;
      assert.ok(world.until(() => world.count(NEW) === 5));
      assert.equal(world.record?.breach, undefined);
      world.setNode(nodeName('n002'), { isReady: true });
      assert.ok(
        world.until(() => world.count(NEW) === 6),
        'and takes it when it is back',
      );
    });

    it('want 1: 20 of 288 nodes are down and 5 % may be (NVIDIA/NVSentinel#1764): no deadlock: 15 of them are let pass, 5 use up a third of the budget', () => {
      const world = start(288, {
        budget: 'attributed',
        maxUnavailable: { kind: 'percent', percent: 5 },
      });
      for (let index = 0; index < 20; index += 1) {
        world.setNode(nodeName(nameOf(index * 14)), { isReady: false });
      }
      world.tick(1_000);
      world.hash = NEW;
      assert.ok(world.until(() => world.count(NEW) === 268, { maxMs: 12 * 60 * MINUTE_MS }));
      assert.equal(world.record?.breach, undefined);
    });

    it('want 2: three bad updates in a row never take a second node (#123232, #127903)', () => {
      const world = start(3);
      for (const bad of ['bad1', 'bad2', 'bad3']) {
        world.behaviours.set(bad, NEVER_READY);
        world.hash = bad;
        world.until(() => false, { stepMs: 10_000, maxMs: 10 * MINUTE_MS });
        assert.ok(world.unreadyNodesMax <= 1, `${String(world.unreadyNodesMax)} at once`);
      }
      world.hash = NEW;
      assert.ok(world.until(() => isDone(world)));
      assert.equal(world.count(NEW), 3);
    });

    it('want 3: a canary, zone by zone, the control plane last, in a stable order (#80130, argoproj/argo-rollouts#1457)', () => {
      const order = [
        { label: CONTROL_PLANE, values: [], isLast: true },
        { label: ZONE, values: ['b'], isLast: false },
      ];
      const all = nodes(8).map((each, index) =>
        index === 1 ? { ...each, labels: { ...each.labels, [CONTROL_PLANE]: '' } } : each,
      );
      const orders = [0, 1].map(() => {
        const world = new StagedWorld({ nodes: all, policy: policy({ ...QUICK, order }), mode });
        world.hash = NEW;
        assert.ok(world.until(() => isDone(world), { stepMs: 10_000 }));
        return world.made.map((each) => each.split(' ')[0] ?? '');
      });
      const [first = [], second] = orders;
      assert.deepEqual(second, first);
      assert.equal(first.at(-1), 'n001');
      const zones = first.slice(1, -1).map((name) => (Number(name.slice(1)) % 2 === 0 ? 'a' : 'b'));
      assert.deepEqual(zones, zones.toSorted().toReversed(), 'zone b before zone a');
    });

    it('want 4: paused in the middle it stands still, and goes on where it was (#86619)', () => {
      const world = start(6);
      world.hash = NEW;
      world.until(() => world.count(NEW) === 3, { stepMs: 5_000 });
      world.policy = { ...world.policy, isPaused: true };
      world.until(() => false, { maxMs: 3 * 60 * MINUTE_MS });
      assert.equal(world.count(NEW), 3);
      world.policy = { ...world.policy, isPaused: false };
      assert.ok(world.until(() => isDone(world)));
      assert.equal(nodesDeleted(world), 6, 'no pod twice');
    });

    it('want 4: it has a progress deadline (KEP-2804), and a failing revision is left by itself', () => {
      const late = start(6, { progressDeadlineMs: 30 * MINUTE_MS });
      late.hash = NEW;
      late.until(() => late.count(NEW) === 1, { stepMs: 5_000 });
      late.isViewFresh = false;
      assert.ok(late.until(() => late.record?.breach?.cause === 'ProgressDeadlineExceeded'));
      const failing = start(6, { onHalt: 'rollback' });
      const lastExit = { reason: 'OOMKilled', exitCode: 137 };
      failing.behaviours.set(NEW, trouble({ restarts: 1, lastExit }));
      failing.hash = NEW;
      assert.ok(failing.until(() => failing.record?.breach !== undefined));
      failing.until(() => false, { maxMs: 10 * MINUTE_MS });
      // In copilot the template is restored, or a person asked to (staged-rollout.test.ts).
      if (mode === 'takeover') assert.equal(failing.count(NEW), 0);
      else assert.equal(failing.plan?.restores, 'aaaa');
    });

    for (const partition of [undefined, { kind: 'percent', percent: 60 } as const]) {
      const kept = partition === undefined ? '' : ' under a partition';
      it(`want 4: undone half-way${kept}, once its canary had passed, it restarts no pod that was never replaced (row 56)`, () => {
        const options = { soakMs: 10_000, ...(partition === undefined ? {} : { partition }) };
        const world = start(50, { ...options, maxUnavailable: count(10) });
        const former = new Map([...world.pods.values()].map((pod) => [pod.targetNode, pod.name]));
        world.hash = NEW;
        assert.ok(world.until(() => world.count(NEW) >= 12, { stepMs: 1_000 }));
        assert.equal(world.record?.proven?.hash, NEW);
        const touched = new Set(
          Object.entries(world.hashes()).flatMap(([name, hash]) => (hash === NEW ? [name] : [])),
        );
        world.hash = 'aaaa';
        world.until(() => false, { stepMs: 1_000, maxMs: 20 * MINUTE_MS });
        for (const { targetNode = nodeName('?'), name } of world.pods.values()) {
          if (!touched.has(targetNode)) assert.equal(name, former.get(targetNode), targetNode);
        }
        if (partition === undefined) assert.equal(world.count('aaaa'), 50);
        else assert.ok(world.count(NEW) <= touched.size);
      });
    }

    it('want 4: where a policy is first seen half-way, it restarts no pod that has the new revision (row 56)', () => {
      const world = start(50, { soakMs: 10_000, maxUnavailable: count(10) });
      world.hash = NEW;
      assert.ok(world.until(() => world.count(NEW) >= 12, { stepMs: 1_000 }));
      const isNew = ({ targetNode = nodeName('?') }: PodProjection) =>
        world.hashes()[targetNode] === NEW;
      const there = [...world.pods.values()].filter(isNew).map(({ name }) => name);
      world.record = undefined;
      assert.ok(world.until(() => isDone(world), { stepMs: 1_000 }));
      for (const name of there) assert.ok(world.pods.has(name), name);
      assert.equal(world.count(NEW), 50);
    });

    it('want 8: a cordoned node is updated in its turn, and a drain in the middle is no breach (#122912)', () => {
      const world = start(6);
      world.setNode(nodeName('n001'), { unschedulable: true });
      world.hash = NEW;
      world.until(() => world.count(NEW) === 1, { stepMs: 5_000 });
      const other = Object.entries(world.hashes()).find(([, hash]) => hash !== NEW)?.[0] ?? '';
      world.evict(nodeName(other));
      world.tick(5_000);
      world.tick(5_000);
      assert.equal(world.hashes()[other], mode === 'takeover' ? 'aaaa' : NEW);
      assert.deepEqual(world.plan?.stages?.strays, mode === 'takeover' ? [] : [other]);
      assert.ok(world.until(() => isDone(world)));
      assert.equal(world.record?.breach, undefined);
      assert.equal(world.count(NEW), 6);
    });

    it('want 10: evictions by a node that is short of disk count for the node, and halt nothing alone (#65240, openkruise/kruise#744)', () => {
      const world = start(12, { budget: 'attributed' });
      world.behaviours.set(NEW, {
        trouble: (_ageMs, name) =>
          name === 'n003' ? { disruption: 'TerminationByKubelet' } : undefined,
      });
      world.hash = NEW;
      world.until(() => world.count(NEW) >= 12, { maxMs: 6 * 60 * MINUTE_MS });
      assert.equal(world.record?.breach, undefined);
      assert.equal(world.count(NEW), 12);
    });
  });
}

describe('what users ask for, 16: surge with a host port (#106417, #48841)', () => {
  it('hangs upstream without a word; here it halts on the canary, says why, and no node was ever without a pod', () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const world = new StagedWorld({ nodes: nodes(6), policy: policy(QUICK), strategy });
    // The port is the old pod's: the new one never gets a node.
    world.behaviours.set(NEW, {
      ...NEVER_READY,
      trouble: () => ({ unscheduled: 'Unschedulable' }),
    });
    world.hash = NEW;
    assert.ok(world.until(() => world.record?.breach !== undefined));
    assert.equal(world.record?.breach?.cause, 'StartFailure');
    assert.match(world.record.breach.message, /have no room for the pod \(Unschedulable\)/);
    assert.equal(world.record.breach.nodes.length, 1);
    assert.equal(nodesDeleted(world), 0);
    assert.equal(world.unreadyNodesMax, 0);
  });
});

describe('what users ask for, 1: a canary that is killed', () => {
  it('is not chosen among nodes that are down', () => {
    const world = new StagedWorld({
      nodes: nodes(4).map((each, index) => (index === 0 ? { ...each, isReady: false } : each)),
      policy: policy({ ...QUICK, maxUnavailable: count(2) }),
    });
    world.hash = NEW;
    world.until(() => world.count(NEW) === 1, { stepMs: 5_000 });
    assert.ok(!world.record?.canary.includes(nodeName('n000')));
  });
});
