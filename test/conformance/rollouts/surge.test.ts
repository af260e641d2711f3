/**
 * Surge on a control plane, real and local (spec 2.9): the new pod is there before the old one goes.
 *
 * On the real one also the time of each step: with minReadySeconds nothing happens in the cluster
 * that could remind Rollcall of going on, so each step needs a wake-up of its own. The built-in
 * controller was measured to lose them (end of the spec).
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import { startPaceMeter, stretched } from '../../support/machine-pace.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { describeOnBackend } from '../scenarios/backends.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import type { RolloutReport } from './availability.ts';
import {
  createRolled,
  edit,
  expectRest,
  expectVersion,
  nodesAt,
  podUids,
  removeAll,
  reportSince,
  rollingUpdate,
  waitFor,
  waitUntilStill,
} from './rolled.ts';
import type { Rolled, RolledOptions } from './rolled.ts';

/** How long a pod must be ready. */
const MIN_READY_SECONDS = 10;
/** From the wake-up that is due to the next pod, on a quiet machine. */
const BESIDES_MS = 2000;
const STALLED_STEP_MAX_MS = 40_000;
const ROLLOUTS_MAX = 2;
const SLOW_STEPS_MAX = 1;

interface MeasuredRollout {
  readonly stepsMs: readonly number[];
  readonly slowdown: number;
}

/** `again`: one step was slow, and another rollout is to be measured. */
type StepsVerdict =
  { readonly kind: 'passed' | 'again' } | { readonly kind: 'failed'; readonly why: string };

/** Judges all rollouts that were measured, the first one first. */
function judgeSteps(rollouts: readonly MeasuredRollout[]): StepsVerdict {
  const steps = rollouts.flatMap(({ stepsMs, slowdown }) =>
    stepsMs.map((stepMs) => ({ stepMs, isSlow: stepMs > stepBoundMs(slowdown) })),
  );
  const lost = steps.find(({ stepMs }) => !(stepMs <= STALLED_STEP_MAX_MS));
  if (lost !== undefined) {
    return { kind: 'failed', why: `a wake-up was lost: a step took ${String(lost.stepMs)} ms` };
  }
  const slow = steps.filter(({ isSlow }) => isSlow).map(({ stepMs }) => stepMs);
  if (slow.length > SLOW_STEPS_MAX) {
    const why = `slow: ${slow.join(', ')} ms, of ${String(steps.length)} steps`;
    return { kind: 'failed', why };
  }
  const isProven = slow.length === 0 || rollouts.length >= ROLLOUTS_MAX;
  return { kind: isProven ? 'passed' : 'again' };
}

/** How long a step may take. */
function stepBoundMs(slowdown: number): number {
  return MIN_READY_SECONDS * 1000 + stretched(BESIDES_MS, slowdown);
}

const POOL = 'rollcall.test/steps';

describeOnBackend('surge', { timeout: 1_700_000 }, (backend) => {
  const nodes = plainNodes(8);
  const names = nodes.map(({ metadata }) => metadata.name);
  const stepNodes = names.slice(0, 4);
  let stage: Stage;

  before(async () => {
    const labelled = nodes.map((node) => {
      const isStep = stepNodes.includes(node.metadata.name);
      const labels = { ...node.metadata.labels, ...(isStep ? { [POOL]: 'true' } : {}) };
      return { ...node, metadata: { ...node.metadata, labels } };
    });
    stage = await openStage({ backend, name: 'rollout-surge', nodes: labelled });
  });
  afterEach(() => removeAll(stage));
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  for (const { maxSurge, nodesMax } of [
    { maxSurge: '25%', nodesMax: 2 },
    { maxSurge: '100%', nodesMax: 8 },
    { maxSurge: 3, nodesMax: 3 },
  ]) {
    it(`of ${String(maxSurge)} never leaves a node without a pod, with ${String(nodesMax)} extra at most (S2)`, async () => {
      const rolled = await create({ name: 'agent', strategy: rollingUpdate({ maxSurge }) });
      const fromEvent = await edit(stage, rolled, { version: 'b' });
      await expectVersion(stage, rolled, 'b');
      const report = reportSince(stage, rolled, fromEvent);
      assertSurge(report, rolled, nodesMax);
      assert.equal(report.creations.length, names.length);
      assert.equal(report.deletions.length, names.length);
    });
  }

  it('stops beside pods that never become ready, keeps the old ones, and takes the bad ones back', async () => {
    const rolled = await create({ name: 'agent', strategy: rollingUpdate({ maxSurge: 2 }) });
    const old = podUids(stage, rolled);
    const fromEvent = await edit(stage, rolled, { version: 'bad', isBad: true });
    await waitFor(stage, () => surgingNodes(rolled).length === 2, {
      description: 'two nodes with a second pod',
    });
    await expectRest(stage, rolled);
    assert.equal(surgingNodes(rolled).length, 2);
    await edit(stage, rolled, { version: 'a' });
    await expectVersion(stage, rolled, 'a');
    const report = reportSince(stage, rolled, fromEvent);
    assertSurge(report, rolled, 2);
    assert.deepEqual(podUids(stage, rolled), old, 'no old pod was restarted');
  });

  it('edited again half-way ends at the last version, with two revisions on a node at most', async () => {
    const rolled = await create({ name: 'agent', strategy: rollingUpdate({ maxSurge: 2 }) });
    const fromEvent = await edit(stage, rolled, { version: 'b', readyDelayMs: 1000 });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length >= 3, {
      description: 'three nodes at b',
    });
    await edit(stage, rolled, { version: 'c' });
    await expectVersion(stage, rolled, 'c');
    const report = reportSince(stage, rolled, fromEvent);
    assert.equal(report.availableNodesMin, names.length);
    assert.ok(report.revisionsPerNodeMax <= 2, `${String(report.revisionsPerNodeMax)} revisions`);
    assert.ok(report.livePodsPerNodeAndRevisionMax <= 1, 'S2: two pods of one revision');
  });

  it('vacates a node that should not run the pod any more, and only beyond the desired number', async (context) => {
    const rolled = await create({ name: 'agent', strategy: rollingUpdate({ maxSurge: 1 }) });
    const [tainted = '', ...others] = names;
    const before = podUids(stage, rolled);
    context.after(() => taint(tainted, []));
    await taint(tainted, [{ key: 'repair.example.com', effect: 'NoSchedule' }]);
    await waitFor(
      stage,
      (observer) => observer.daemonSets.get(rolled.uid)?.status['desiredNumberScheduled'] === 7,
      { description: 'seven nodes desired' },
    );
    await waitUntilStill(stage);
    assert.equal(podUids(stage, rolled).get(tainted), before.get(tainted), 'kept (spec 2.5)');
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    const remaining = { ...rolled, nodes: others };
    await expectVersion(stage, remaining, 'b');
    const report = reportSince(stage, remaining, fromEvent);
    assert.equal(report.availableNodesMin, others.length);
    const onTainted = report.creations.filter(({ node }) => node === tainted);
    assert.deepEqual(onTainted, [], 'nothing new on the tainted node');
    await taint(tainted, []);
    await expectVersion(stage, rolled, 'b');
  });

  if (backend === 'real') {
    it(`of 1 with minReadySeconds ${String(MIN_READY_SECONDS)} goes on within 12 s of each step, with no outside event`, async (context) => {
      const rolled = await create({
        name: 'agent',
        nodes: stepNodes,
        nodeSelector: { [POOL]: 'true' },
        strategy: rollingUpdate({ maxSurge: 1 }),
        minReadySeconds: MIN_READY_SECONDS,
      });
      const measured: MeasuredRollout[] = [];
      for (;;) {
        const rollout = await measureSteps(rolled, `rollout-${String(measured.length + 1)}`);
        measured.push(rollout);
        const { stepsMs, slowdown } = rollout;
        const text = stepsMs.map((ms) => (ms / 1000).toFixed(1)).join(', ');
        context.diagnostic(`steps of ${text} s, of ${String(stepBoundMs(slowdown))} ms each`);
        const verdict = judgeSteps(measured);
        if (verdict.kind === 'passed') break;
        assert.equal(verdict.kind, 'again', JSON.stringify(verdict));
      }
    });
  }

  /** Rolls to a version, with nothing else going on, and answers how long each step took. */
  async function measureSteps(rolled: Rolled, version: string): Promise<MeasuredRollout> {
    await waitUntilStill(stage);
    const pace = startPaceMeter();
    const fromEvent = await edit(stage, rolled, { version });
    await expectVersion(stage, rolled, { version, deadlineMs: 240_000 });
    const slowdown = pace.stop();
    const report = reportSince(stage, rolled, fromEvent);
    assertSurge(report, rolled, 1);
    const stepsMs = stepTimes(report);
    assert.equal(stepsMs.length, stepNodes.length);
    const outside = stage.observer.events
      .slice(fromEvent)
      .filter(({ record }) => !isOf(record, rolled.uid));
    assert.deepEqual(outside, [], 'the cluster was quiet but for this rollout');
    return { stepsMs, slowdown };
  }

  function surgingNodes(rolled: Rolled): readonly unknown[] {
    const live = livePodsByNode(stage.observer, rolled.uid);
    return [...live.values()].filter((pods) => pods.length === 2);
  }

  function create(
    options: Omit<RolledOptions, 'nodes'> & { readonly nodes?: readonly string[] },
  ): Promise<Rolled> {
    return createRolled(stage, { nodes: names, ...options });
  }

  async function taint(node: string, taints: readonly unknown[]): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, { spec: { taints } });
  }
});

function isOf(record: Stage['observer']['events'][number]['record'], uid: string): boolean {
  if (record.kind === 'Pod') return record.daemonSetUid === uid;
  return record.kind === 'DaemonSet' && record.uid === uid;
}

/** Never fewer available pods than nodes, never more surging nodes than allowed, S2. */
function assertSurge(report: RolloutReport, rolled: Rolled, surgingNodesMax: number): void {
  assert.equal(report.availableNodesMin, rolled.nodes.length, 'an available pod on every node');
  assert.ok(
    report.surgingNodesMax <= surgingNodesMax,
    `${String(report.surgingNodesMax)} nodes surged at a time`,
  );
  assert.ok(report.revisionsPerNodeMax <= 2);
  assert.ok(report.livePodsPerNodeAndRevisionMax <= 1, 'S2: two pods of one revision on a node');
}

/** From each new pod to the deletion of the old one, and on to the next new pod. */
function stepTimes({ creations, deletions }: RolloutReport): readonly number[] {
  return deletions.map((deletion, index) => {
    const startMs = deletions[index - 1]?.atMs ?? creations[0]?.atMs ?? Number.NaN;
    return deletion.atMs - startMs;
  });
}
