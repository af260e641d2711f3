/**
 * Rolling updates to their end: plans are applied to a small model of a cluster again and again, with
 * no other wake-up than what happens in it and the plan's own due time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '@rollcall/base/json.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  daemonSet,
  node,
  pod,
  slot,
  surging,
} from '../../support/core-fixtures.ts';
import type { Fate } from '../../support/fenced-cluster.ts';
import { RollingCluster, hasWork, rollOut, type RollStep } from '../../support/rolling-cluster.ts';
import { FLEET, FORMER_HASH, strategies } from '../../support/rollout-arbitraries.ts';

const RUNS_MAX = 400;
const NEXT_HASH = 'nextnextnx';

const specOf = (updateStrategy: JsonObject, minReadySeconds: number): JsonObject => ({
  updateStrategy,
  minReadySeconds,
});

/** A cluster at rest, all of its pods of the current revision. */
function atRest(spec: JsonObject, size: number): RollingCluster {
  const nodes = FLEET.slice(0, size).map((name) => node(name));
  const cluster = new RollingCluster(daemonSet({ spec }), nodes);
  rollOut(cluster, { runsMax: RUNS_MAX });
  assert.deepEqual(cluster.differences(), []);
  return cluster;
}

/** Never two live pods of one revision on a node, never three revisions (S2); one pod without surge (S1). */
function assertBeside(cluster: RollingCluster): void {
  const isSurging = 'maxSurge' in (cluster.daemonSet.spec.updateStrategy?.rollingUpdate ?? {});
  for (const { name } of cluster.nodes) {
    const live = cluster
      .snapshot()
      .filter((each) => each.targetNode === name && !each.isTerminating && each.phase !== 'Failed');
    const revisions = live.map(({ labels }) => labels['controller-revision-hash']);
    assert.equal(
      new Set(revisions).size,
      revisions.length,
      `S2 on ${name}: ${revisions.join(', ')}`,
    );
    assert.ok(revisions.length <= (isSurging ? 2 : 1), `on ${name}: ${revisions.join(', ')}`);
  }
}

/** Our own run never takes more nodes than the budget leaves (S3). */
function assertWithinBudget(step: RollStep): void {
  const bound = Math.max(step.maxUnavailable, step.unavailableBefore);
  assert.ok(
    step.unavailableAfter <= bound,
    `S3: ${step.unavailableBefore} → ${step.unavailableAfter} unavailable of ${step.maxUnavailable}`,
  );
}

const strategy = strategies.filter(({ type }) => type === 'RollingUpdate');
const sizes = fc.integer({ min: 1, max: FLEET.length });
const readiness = fc.constantFrom(0, 5);

test('L1, S3: a rolling update replaces every pod without a dip beyond the budget (spec 2.9)', () => {
  fc.assert(
    fc.property(strategy, sizes, readiness, (updateStrategy, size, minReadySeconds) => {
      const cluster = atRest(specOf(updateStrategy, minReadySeconds), size);
      cluster.edit({}, NEXT_HASH);
      let replaced = 0;
      rollOut(cluster, {
        runsMax: RUNS_MAX,
        onRun: (step) => {
          assertWithinBudget(step);
          assertBeside(cluster);
          assert.ok(step.unavailableAfter <= step.maxUnavailable, 'never less available');
          replaced += step.plan.deletes.length;
        },
      });
      assert.deepEqual(cluster.differences(), []);
      assert.equal(replaced, size, 'each pod was deleted once');
      const again = cluster.run();
      assert.ok(!hasWork(again), 'a plan at rest is empty');
    }),
    { numRuns: 120 },
  );
});

/** One thing that happens during a rolling update, after so many runs. */
const disturbances = fc.record({
  afterRuns: fc.integer({ min: 0, max: 25 }),
  what: fc.constantFrom(
    'edit',
    'back',
    'join',
    'leave',
    'taint',
    'fail',
    'unready',
    'delete',
    'strategy',
  ),
  pick: fc.nat(7),
  strategy,
});

type Disturbance = typeof disturbances extends fc.Arbitrary<infer T> ? T : never;

type Act = (cluster: RollingCluster, on: { readonly name: string; readonly pick: number }) => void;

const victimOn = (cluster: RollingCluster, name: string): string =>
  cluster.snapshot().find(({ targetNode }) => targetNode === name)?.name ?? '';

const ACTS: Readonly<Record<Exclude<Disturbance['what'], 'strategy'>, Act>> = {
  edit: (cluster, { pick }) => {
    cluster.edit({}, `hash-${pick}`);
  },
  back: (cluster) => {
    cluster.edit({}, CURRENT_HASH);
  },
  join: (cluster, { name }) => {
    cluster.putNode(node(name));
  },
  leave: (cluster, { name }) => {
    cluster.removeNode(name);
  },
  taint: (cluster, { name }) => {
    cluster.putNode(node(name, { taints: [{ key: 'x', effect: 'NoSchedule' }] }));
  },
  fail: (cluster, { name }) => {
    cluster.failing.add(nodeName(name));
  },
  unready: (cluster, { name }) => {
    cluster.update(victimOn(cluster, name), { isReady: false });
  },
  delete: (cluster, { name }) => {
    cluster.remove(victimOn(cluster, name));
  },
};

function disturb(cluster: RollingCluster, { what, pick, strategy: changed }: Disturbance): void {
  const name = FLEET[pick % FLEET.length] ?? 'n1';
  if (what === 'strategy') cluster.edit({ updateStrategy: changed });
  else ACTS[what](cluster, { name, pick });
}

test('L1, S2, S3: edits, rollbacks, failures and nodes that come and go: it ends exact, and keeps the bounds', () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(
      strategy,
      readiness,
      fc.array(disturbances, { minLength: 1, maxLength: 6 }),
      (updateStrategy, minReadySeconds, list) => {
        const cluster = atRest(specOf(updateStrategy, minReadySeconds), 5);
        cluster.edit({}, NEXT_HASH);
        const pending = list.toSorted((left, right) => left.afterRuns - right.afterRuns);
        const onRun = (step: RollStep, index: number): void => {
          const isOwn = !step.plan.deletes.some(({ reason }) => reason === 'duplicate');
          if (isOwn) assertWithinBudget(step);
          assertBeside(cluster);
          while (pending[0] !== undefined && pending[0].afterRuns <= index) {
            const disturbance = pending.shift() as Disturbance; // there is one
            met.add(disturbance.what);
            disturb(cluster, disturbance);
          }
        };
        rollOut(cluster, { runsMax: RUNS_MAX, onRun });
        // What was to happen after the rollout had ended, happens now.
        for (const disturbance of pending.splice(0)) disturb(cluster, disturbance);
        rollOut(cluster, { runsMax: RUNS_MAX, onRun });
        for (const each of cluster.snapshot().filter(({ isReady }) => !isReady)) {
          cluster.update(each.name, { isReady: true, readyChangedAtMs: cluster.nowMs });
        }
        rollOut(cluster, { runsMax: RUNS_MAX, onRun });
        assert.deepEqual(cluster.differences(), []);
        assert.ok(!hasWork(cluster.run()), 'a plan at rest is empty');
      },
    ),
    { numRuns: 250 },
  );
  assert.equal(met.size, 9, [...met].join(', '));
});

test('L1, S2, S3: lost answers, lost and late requests never take more than the budget (faults 9, 10, 78)', () => {
  const fates = fc.array(fc.constantFrom<Fate>('answered', 'answer-lost', 'late', 'lost'), {
    minLength: 1,
    maxLength: 12,
  });
  let met = 0;
  fc.assert(
    fc.property(strategy, readiness, fates, (updateStrategy, minReadySeconds, list) => {
      const cluster = atRest(specOf(updateStrategy, minReadySeconds), 5);
      let turn = 0;
      const fate = (): Fate => {
        turn += 1;
        // Faults end some day.
        const drawn = turn > 60 ? 'answered' : (list[turn % list.length] ?? 'answered');
        if (drawn !== 'answered') met += 1;
        return drawn;
      };
      const onRun = (step: RollStep): void => {
        assert.ok(step.unavailableBefore <= step.maxUnavailable, 'what arrived late, too');
        assertWithinBudget(step);
        assertBeside(cluster);
      };
      for (const hash of [NEXT_HASH, CURRENT_HASH]) {
        cluster.edit({}, hash);
        rollOut(cluster, { runsMax: RUNS_MAX, onRun, fate });
        assert.deepEqual(cluster.differences(), []);
      }
    }),
    { numRuns: 150 },
  );
  assert.ok(met > 500, `${met} faults`);
});

test('OnDelete: an edit replaces nothing, and each pod that is deleted comes back current (spec 2.9)', () => {
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(7), { maxLength: 5 }), (size, picks) => {
      const cluster = atRest(specOf({ type: 'OnDelete' }, 0), size);
      cluster.edit({}, NEXT_HASH);
      rollOut(cluster, { runsMax: RUNS_MAX });
      const hashOn = (name: string): string | undefined =>
        [...cluster.pods.values()].find(({ targetNode }) => targetNode === name)?.labels[
          'controller-revision-hash'
        ];
      const names = FLEET.slice(0, size);
      assert.deepEqual(new Set(names.map(hashOn)), new Set([CURRENT_HASH]), 'nothing was replaced');
      const deleted = new Set(picks.flatMap((pick) => names[pick] ?? []));
      for (const name of deleted) cluster.remove(slot(name));
      rollOut(cluster, { runsMax: RUNS_MAX });
      for (const name of names) {
        assert.equal(hashOn(name), deleted.has(name) ? NEXT_HASH : CURRENT_HASH);
      }
      assert.deepEqual(cluster.differences(), []);
    }),
    { numRuns: 40 },
  );
});

test('pods under foreign names are kept by a takeover and age out with the rolling update (protocol 9)', () => {
  fc.assert(
    fc.property(strategy, sizes, (updateStrategy, size) => {
      const nodes = FLEET.slice(0, size).map((name) => node(name));
      const cluster = new RollingCluster(daemonSet({ spec: specOf(updateStrategy, 0) }), nodes);
      for (const name of FLEET.slice(0, size)) {
        const foreign = pod(name, { name: `agent-${name}x` });
        cluster.pods.set(foreign.name, foreign);
      }
      rollOut(cluster, { runsMax: RUNS_MAX });
      assert.ok(
        cluster.snapshot().every(({ name }) => name.endsWith('x')),
        'all were kept',
      );
      cluster.edit({}, FORMER_HASH);
      rollOut(cluster, { runsMax: RUNS_MAX, onRun: assertWithinBudget });
      assert.deepEqual(cluster.differences(), []);
      assert.ok(
        cluster.snapshot().every(({ name }) => !name.endsWith('x')),
        'all were replaced',
      );
    }),
    { numRuns: 60 },
  );
});

test('each surge step takes minReadySeconds and no more than a second beside (the measured defect of upstream)', () => {
  const cluster = atRest({ ...surging(1), minReadySeconds: 10 }, 4);
  cluster.edit({}, NEXT_HASH);
  const startedMs: number[] = [];
  rollOut(cluster, {
    runsMax: RUNS_MAX,
    onRun: ({ plan }) => {
      if (plan.creates.length > 0) startedMs.push(cluster.nowMs);
    },
  });
  assert.equal(startedMs.length, 4);
  for (const [index, atMs] of startedMs.entries()) {
    const beforeMs = startedMs[index - 1];
    if (beforeMs === undefined) continue;
    const stepMs = atMs - beforeMs - cluster.startMs;
    assert.ok(
      stepMs >= 10_000 && stepMs <= 10_000 + 1000 + cluster.stopMs,
      `a step of ${stepMs} ms`,
    );
  }
  assert.ok(cluster.nowMs > NOW_MS);
});
