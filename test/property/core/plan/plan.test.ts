/** Properties of the plan: order, restraint, completeness, quiescence, and S1 under a bad network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { computeView } from '../../../../src/core/view/view.ts';
import { intents, nodeSets, podSets } from '../../../support/core-arbitraries.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  context,
  daemonSet,
  inWords,
  node,
  state,
  surging,
} from '../../../support/core-fixtures.ts';
import { FencedCluster, type Fate } from '../../../support/fenced-cluster.ts';

const plain = daemonSet({ podSpec: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } });
const surge = daemonSet({ spec: surging() });
const sets = fc.constantFrom(plain, surge);
const intentLists = fc.array(intents, { maxLength: 4 });

const isRunning = (pod: PodProjection): boolean =>
  !pod.isTerminating && pod.phase !== 'Failed' && pod.phase !== 'Succeeded';

test('a plan does not depend on the order of nodes, pods or intents', () => {
  fc.assert(
    fc.property(fc.tuple(sets, nodeSets, podSets, intentLists), ([set, nodes, pods, list]) => {
      const plan = (turn: <T>(items: readonly T[]) => readonly T[]): unknown => {
        const view = computeView({
          daemonSet: set,
          nodes: turn(nodes),
          pods: turn(pods),
          revisions: [],
          nowMs: NOW_MS,
        });
        return inWords(planReconcile(view, context({ state: state({ intents: turn(list) }) })));
      };
      const unique = new Set(list.map(({ name, kind }) => `${kind}/${name}`));
      fc.pre(unique.size === list.length);
      assert.deepEqual(
        plan((items) => items),
        plan((items) => items.toReversed()),
      );
    }),
    { numRuns: 400 },
  );
});

test('never two creates for a node, and no delete of the one healthy pod of a run node (S1, S3)', () => {
  fc.assert(
    fc.property(fc.tuple(sets, nodeSets, podSets, intentLists), ([set, nodes, mixed, list]) => {
      // All of one revision: what a rolling update does beside this has properties of its own.
      const pods = mixed.map((pod) => ({
        ...pod,
        labels: { ...pod.labels, 'controller-revision-hash': CURRENT_HASH },
      }));
      const view = computeView({ daemonSet: set, nodes, pods, revisions: [], nowMs: NOW_MS });
      const plan = planReconcile(view, context({ state: state({ intents: list }) }));
      assert.equal(new Set(plan.creates.map((create) => create.node)).size, plan.creates.length);
      const victims = new Set(plan.deletes.map(({ uid }) => uid));
      assert.equal(victims.size, plan.deletes.length);
      for (const each of view.nodes) {
        const running = each.pods.filter(isRunning);
        if (each.placement === 'leave' || running.length === 0) continue;
        assert.ok(
          running.some(({ uid }) => !victims.has(uid)),
          'one running pod stays',
        );
        const isCreated = plan.creates.some((create) => create.node === each.node.name);
        assert.ok(!isCreated, 'no second pod beside a running one');
      }
    }),
    { numRuns: 600 },
  );
});

test('every run node without a pod gets a create, up to the cap, once no claim is left (L1, S9)', () => {
  fc.assert(
    fc.property(nodeSets, podSets, fc.integer({ min: 0, max: 6 }), (nodes, pods, cap) => {
      const view = computeView({ daemonSet: plain, nodes, pods, revisions: [], nowMs: NOW_MS });
      const empty = view.nodes.filter((each) => each.placement === 'run' && each.pods.length === 0);
      const plan = planReconcile(view, context({ burstPodsMax: cap }));
      // Nothing is done on top of claims that are left for the next run (spec 2.4).
      const isClaimed = view.toAdopt.length + view.toRelease.length <= cap;
      assert.deepEqual(
        plan.creates.map((create) => create.node),
        isClaimed ? empty.slice(0, cap).map((each) => each.node.name) : [],
      );
      assert.ok(plan.adopts.length + plan.releases.length <= cap);
      assert.ok(plan.deletes.length <= cap);
    }),
    { numRuns: 400 },
  );
});

test('after a run, a plan on the unchanged view sends nothing again; then it settles (L1)', () => {
  fc.assert(
    fc.property(sets, nodeSets, podSets, (set, nodes, pods) => {
      const cluster = new FencedCluster(set, nodes);
      // Names that somebody else holds are the shell's business (faults 88).
      const ours = pods.filter(
        (pod) =>
          pod.ownerUid !== undefined || (!pod.isTerminating && pod.labels['app'] === 'agent'),
      );
      for (const pod of ours) cluster.pods.set(pod.name, pod);
      const before = cluster.snapshot();
      const first = cluster.run();
      const again = cluster.plan(before);
      const sent = new Set(first.creates.map((create) => create.node));
      assert.ok(
        again.creates.every((create) => !sent.has(create.node)),
        'no create twice',
      );
      const victims = new Set(first.deletes.map(({ uid }) => uid));
      assert.ok(
        again.deletes.every(({ uid }) => !victims.has(uid)),
        'no delete twice',
      );
      for (let round = 0; round < 6; round += 1) {
        for (const pod of cluster.snapshot()) {
          if (pod.ownerUid === undefined || pod.isTerminating) cluster.pods.delete(pod.name);
        }
        cluster.advance(3_600_000);
        cluster.run();
      }
      const last = cluster.plan();
      assert.deepEqual([last.creates, last.deletes], [[], []]);
    }),
    { numRuns: 300 },
  );
});

/** One step of a bad day: what happens to the cluster before the next run. */
const steps = fc.record({
  waitMs: fc.constantFrom(0, 500, 5000, 21_000),
  event: fc.constantFrom('none', 'fail', 'hold', 'release', 'delete', 'evict'),
  pick: fc.nat(5),
  fates: fc.array(fc.constantFrom<Fate>('answered', 'answer-lost', 'late', 'lost'), {
    minLength: 1,
    maxLength: 4,
  }),
  isStale: fc.boolean(),
  apiAheadMs: fc.constantFrom(0, 0, 300_000),
});

type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

function disturb(cluster: FencedCluster, step: Step): void {
  cluster.apiAheadMs = step.apiAheadMs;
  const names = [...cluster.pods.keys()];
  const name = names[step.pick % Math.max(1, names.length)] ?? '';
  if (step.event === 'fail') cluster.update(name, { phase: 'Failed', isReady: false });
  if (step.event === 'delete') cluster.remove(name, true);
  if (step.event === 'evict') cluster.remove(name);
  if (step.event === 'hold') hold(cluster, name);
  if (step.event === 'release') release(cluster);
}

/** A pod fails and is deleted, but a finalizer keeps it. */
function hold(cluster: FencedCluster, name: string): void {
  cluster.finalizers.add(name);
  cluster.update(name, { phase: 'Failed', isReady: false });
  cluster.remove(name);
}

function release(cluster: FencedCluster): void {
  for (const held of cluster.finalizers) {
    if (cluster.pods.get(held)?.isTerminating === true) cluster.pods.delete(held);
  }
  cluster.finalizers.clear();
}

function assertOnePodPerNode(cluster: FencedCluster): void {
  const running = cluster.snapshot().filter(({ phase }) => phase !== 'Failed');
  const perNode = new Map<string | undefined, string[]>();
  for (const { targetNode, name } of running) {
    perNode.set(targetNode, [...(perNode.get(targetNode) ?? []), name]);
  }
  for (const names of perNode.values()) assert.ok(names.length <= 1, names.join(' beside '));
}

test('S1: lost answers, late requests, finalizers and stale views never make two pods on a node (faults 10, 21, 47, 86)', () => {
  let lateArrivals = 0;
  fc.assert(
    fc.property(fc.array(steps, { minLength: 3, maxLength: 14 }), (days) => {
      const cluster = new FencedCluster(daemonSet(), [node('a'), node('b')]);
      let earlier = cluster.snapshot();
      for (const step of days) {
        disturb(cluster, step);
        const before = cluster.pods.size;
        cluster.advance(step.waitMs);
        if (cluster.pods.size > before) lateArrivals += 1;
        assertOnePodPerNode(cluster);
        let turn = 0;
        const fate = (): Fate => {
          turn += 1;
          return step.fates[turn % step.fates.length] ?? 'answered';
        };
        // A stale view is never older than the request time-out: the lag bound sees to that.
        const pods = step.isStale && step.waitMs < 10_000 ? earlier : cluster.snapshot();
        earlier = cluster.snapshot();
        cluster.run({ pods, fate });
        assertOnePodPerNode(cluster);
      }
    }),
    { numRuns: 600 },
  );
  assert.ok(lateArrivals > 0, 'late requests did arrive');
});

test('S13: no name that a view has shown is asked for again, with and without surge', () => {
  let replaced = 0;
  const hashes = fc.array(fc.constantFrom(CURRENT_HASH, 'older'), { minLength: 14, maxLength: 14 });
  fc.assert(
    fc.property(
      sets,
      fc.array(steps, { minLength: 3, maxLength: 14 }),
      hashes,
      (set, days, rolls) => {
        const cluster = new FencedCluster(set, [node('a'), node('b')]);
        const shown = new Set<string>();
        const look = (): { pods: readonly PodProjection[]; before: ReadonlySet<string> } => {
          const pods = cluster.snapshot();
          for (const { name } of pods) shown.add(name);
          return { pods, before: new Set(shown) };
        };
        let earlier = look();
        for (const [index, step] of days.entries()) {
          if (set === surge) cluster.currentHash = rolls[index] ?? CURRENT_HASH;
          disturb(cluster, step);
          cluster.advance(step.waitMs);
          const now = look();
          const { pods, before } = step.isStale && step.waitMs < 10_000 ? earlier : now;
          earlier = now;
          let turn = 0;
          const fate = (): Fate => {
            turn += 1;
            return step.fates[turn % step.fates.length] ?? 'answered';
          };
          const plan = cluster.run({ pods, fate });
          for (const { name } of plan.creates) {
            assert.ok(!before.has(name), `${name} is asked for again`);
          }
          replaced += before.size > 0 ? plan.creates.length : 0;
        }
      },
    ),
    { numRuns: 600 },
  );
  assert.ok(replaced > 0, 'pods were replaced');
});

/** One turn on a node: what is rolled out, by which clock pods are made, and what becomes of them. */
const seldom = fc.nat(3).map((dice) => dice === 3);
const turns = fc.record({
  fate: fc.constantFrom('evicted', 'evicted', 'evicted', 'held', 'left'),
  isReleased: seldom,
  isRolled: seldom,
  isClockStepped: seldom,
});

type Turn = typeof turns extends fc.Arbitrary<infer S> ? S : never;

/** Returns the names that were asked for; throws where one was borne before. */
function makeAndSee(cluster: FencedCluster, shown: Set<string>): readonly string[] {
  const asked: string[] = [];
  // The old pod goes, the new one is made, and is seen.
  for (let round = 0; round < 3; round += 1) {
    for (const { name } of cluster.run().creates) {
      assert.ok(!shown.has(name), `${name} is asked for again`);
      asked.push(name);
    }
    for (const { name } of cluster.snapshot()) shown.add(name);
  }
  return asked;
}

function endTurn(cluster: FencedCluster, { fate, isReleased }: Turn): void {
  for (const name of [...cluster.pods.keys()]) {
    if (fate === 'held') hold(cluster, name);
    if (fate === 'evicted') cluster.remove(name);
  }
  if (isReleased) release(cluster);
  cluster.advance(20_000);
}

test('S13, row 13: no clock of an API server leads back to a name, whatever is rolled out, with and without surge', () => {
  let asked = 0;
  fc.assert(
    fc.property(sets, fc.array(turns, { minLength: 6, maxLength: 14 }), (set, list) => {
      const cluster = new FencedCluster(set, [node('a')]);
      const shown = new Set<string>();
      let isOlder = false;
      for (const turn of list) {
        if (turn.isRolled) isOlder = !isOlder;
        cluster.currentHash = isOlder ? 'older' : CURRENT_HASH;
        if (turn.isClockStepped) cluster.apiAheadMs = 300_000 - cluster.apiAheadMs;
        asked += makeAndSee(cluster, shown).length;
        endTurn(cluster, turn);
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(asked > 400, 'pods were replaced');
});

test('S1: a create in flight under a successor name meets its own name (faults 86)', () => {
  const cluster = new FencedCluster(daemonSet(), [node('a')]);
  cluster.run();
  const [slotted] = [...cluster.pods.keys()];
  assert.ok(slotted !== undefined);
  cluster.finalizers.add(slotted);
  cluster.update(slotted, { phase: 'Failed', isReady: false });
  cluster.run();
  cluster.run({ fate: () => 'late' });
  cluster.pods.delete(slotted);
  cluster.daemonSet = daemonSet({ spec: surging() });
  cluster.run();
  cluster.advance(60_000);
  cluster.run();
  assert.equal(cluster.pods.size, 1);
  assert.ok(!cluster.pods.has(slotted), 'it has the successor name');
});
