/**
 * Rolling updates while nodes and pods misbehave, on a control plane, real and local (spec 2.9).
 *
 * A disturbance comes first and is settled before the edit, so that what the witness counts is due to
 * Rollcall alone; where it comes during the rollout, only nodes that it does not concern are judged.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { createNodes, deleteNodes, plainNodes, setNodeReady } from '../control-plane/nodes.ts';
import { describeOnBackend } from '../scenarios/backends.ts';
import { podPath } from '../scenarios/daemon-set.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import {
  assertWithinBudget,
  createRolled,
  edit,
  expectRest,
  expectVersion,
  nodesAt,
  removeAll,
  reportSince,
  rollingUpdate,
  waitFor,
  waitUntilStill,
} from './rolled.ts';
import type { Rolled, RolledOptions } from './rolled.ts';

const TOLERATES_NOT_READY = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];

describeOnBackend('a rolling update', { timeout: 1_200_000 }, (backend) => {
  const nodes = plainNodes(6);
  const names = nodes.map(({ metadata }) => metadata.name);
  const [first = '', ...others] = names;
  let stage: Stage;

  before(async () => {
    stage = await openStage({ backend, name: 'rollout-disturbed', nodes });
  });
  afterEach(() => removeAll(stage));
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('replaces a failed pod first, which takes its part of the budget', async () => {
    const rolled = await create({ maxUnavailable: 1 });
    // Repeatedly, so that the last one is kept by its back-off of 4 s while the edit comes.
    let replacement = podOn(rolled, first);
    for (let failure = 0; failure < 3; failure += 1)
      replacement = await failPod(rolled, replacement);
    // From before it fails: on a machine that stalls the back-off may end before the edit is made.
    const fromEvent = stage.observer.events.length;
    await setFailed(replacement);
    await edit(stage, rolled, { version: 'b' });
    await expectVersion(stage, rolled, 'b');
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, 1);
    assert.equal(report.deletions[0]?.podUid, replacement.uid);
  });

  it('goes on past a pod that is stuck terminating only when that is gone (upstream never tests: stuck-terminating node consuming maxUnavailable)', async () => {
    const rolled = await create({ maxUnavailable: 1 });
    const stuck = podOn(rolled, first);
    await terminate(stuck);
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    await expectRest(stage, rolled);
    assert.deepEqual(reportSince(stage, rolled, fromEvent).deletions, [], 'nothing went');
    await endTermination(stuck);
    await expectVersion(stage, rolled, 'b');
    assertWithinBudget(reportSince(stage, rolled, fromEvent), rolled, 1);
  });

  it('goes on beside a pod that is stuck terminating where the budget has room', async () => {
    const rolled = await create({ maxUnavailable: 2 });
    const stuck = podOn(rolled, first);
    await terminate(stuck);
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length === others.length, {
      description: 'all other nodes at b',
    });
    assertWithinBudget(reportSince(stage, rolled, fromEvent), rolled, 2);
    await endTermination(stuck);
    await expectVersion(stage, rolled, 'b');
  });

  it('takes the old pod of a node with an untolerated NoSchedule taint, and puts none there', async (context) => {
    const rolled = await create({ maxUnavailable: 1 });
    const kept = podOn(rolled, first);
    context.after(() => taint(first, []));
    await taint(first, [{ key: 'repair.example.com', effect: 'NoSchedule' }]);
    await expectDesired(rolled, others.length);
    await waitUntilStill(stage);
    assert.equal(podOn(rolled, first).uid, kept.uid, 'kept (spec 2.5)');
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    const remaining = { ...rolled, nodes: others };
    await expectVersion(stage, remaining, 'b');
    assertWithinBudget(reportSince(stage, remaining, fromEvent), remaining, 1);
    assert.equal(livePodsByNode(stage.observer, rolled.uid).get(first), undefined);
    await taint(first, []);
    await expectVersion(stage, rolled, 'b');
  });

  it('rolls cordoned nodes like any other (spec 2.6)', async (context) => {
    const rolled = await create({ maxUnavailable: 2 });
    context.after(() => cordon(first, null));
    await cordon(first, true);
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    await expectVersion(stage, rolled, 'b');
    assertWithinBudget(reportSince(stage, rolled, fromEvent), rolled, 2);
  });

  if (backend === 'real') {
    it('counts the unready pod of a NotReady node, and replaces it in any case (#117204)', async (context) => {
      const tolerations = TOLERATES_NOT_READY;
      const rolled = await create({ maxUnavailable: 2 }, { tolerations });
      const unready = podOn(rolled, first);
      context.after(() => setNodeReady(stage.admin, first, true));
      await setNodeReady(stage.admin, first, false);
      await stage.admin.patch(podPath(unready), {
        metadata: { labels: { 'rollcall.test/never-ready': 'true' } },
      });
      await waitFor(
        stage,
        ({ nodes: seen }) => seen.get(first)?.isReady === false && !podOn(rolled, first).isReady,
        { description: 'the node and its pod are not ready' },
      );
      await waitUntilStill(stage);
      const fromEvent = await edit(stage, rolled, { version: 'b' });
      await expectVersion(stage, rolled, 'b');
      const report = reportSince(stage, rolled, fromEvent);
      assertWithinBudget(report, rolled, 2);
      const firstTwo = report.deletions.slice(0, 2).map(({ podUid }) => podUid);
      assert.ok(firstTwo.includes(unready.uid), 'it went in the first step');
    });
  }

  it('goes on while a node joins and another leaves', async () => {
    const rolled = await create({ maxUnavailable: 2 });
    const fromEvent = await edit(stage, rolled, { version: 'b', readyDelayMs: 3000 });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length >= 2, {
      description: 'two nodes at b',
    });
    await createNodes(stage.admin, plainNodes(1, 'joined'));
    await deleteNodes(stage.admin, [first]);
    const joined = { ...rolled, nodes: [...others, 'joined-0001'] };
    await waitFor(
      stage,
      (observer) => {
        const status = observer.daemonSets.get(rolled.uid)?.status;
        return (
          nodesAt(observer, joined, 'b').length === joined.nodes.length &&
          status?.['updatedNumberScheduled'] === joined.nodes.length &&
          status['numberAvailable'] === joined.nodes.length
        );
      },
      { description: 'the joined node and all that stayed are at b' },
    );
    const stayed = { ...rolled, nodes: others };
    const report = reportSince(stage, stayed, fromEvent);
    assert.ok(report.availableNodesMin >= others.length - 2, 'the budget of the nodes that stayed');
    const onOthers = report.creations.filter(({ node }) => others.includes(node));
    assert.equal(onOthers.length, others.length, 'each of their pods was replaced once');
  });

  it('never put two non-terminal pods on a node (S1)', () => {
    assert.deepEqual(stage.observer.violations, []);
  });

  function create(
    bounds: { readonly maxUnavailable: number },
    more: Partial<RolledOptions> = {},
  ): Promise<Rolled> {
    return createRolled(stage, {
      name: 'agent',
      nodes: names,
      strategy: rollingUpdate(bounds),
      ...more,
    });
  }

  function podOn(rolled: Rolled, node: string): PodRecord {
    const pod = livePodsByNode(stage.observer, rolled.uid).get(node)?.[0];
    assert.ok(pod !== undefined, `no live pod on ${node}`);
    return pod;
  }

  async function setFailed(pod: PodRecord): Promise<void> {
    await stage.admin.patch(`${podPath(pod)}/status`, {
      status: { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] },
    });
  }

  /** Lets the pod fail and answers its ready replacement. */
  async function failPod(rolled: Rolled, pod: PodRecord): Promise<PodRecord> {
    const find = (): PodRecord | undefined =>
      livePodsByNode(stage.observer, rolled.uid)
        .get(pod.node ?? '')
        ?.find((each) => each.uid !== pod.uid && each.isReady);
    await setFailed(pod);
    await waitFor(stage, () => find() !== undefined, { description: 'the failed pod is replaced' });
    const replacement = find();
    assert.ok(replacement !== undefined);
    return replacement;
  }

  /** Deletes the pod, which stays: kwok obeys an annotation, a machine without power does nothing. */
  async function terminate(pod: PodRecord): Promise<void> {
    if (backend === 'real') await annotate(podPath(pod), { [STUCK]: 'true' });
    else await annotate(`/api/v1/nodes/${pod.node ?? ''}`, { [POWER]: 'off' });
    await stage.admin.delete(podPath(pod));
    await waitFor(stage, (observer) => observer.pods.get(pod.uid)?.isDeleting === true, {
      description: 'the pod is terminating',
    });
    await waitUntilStill(stage);
  }

  async function endTermination(pod: PodRecord): Promise<void> {
    if (backend === 'real') await annotate(podPath(pod), { [STUCK]: null });
    else await annotate(`/api/v1/nodes/${pod.node ?? ''}`, { [POWER]: null });
  }

  async function annotate(
    path: string,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    await stage.admin.patch(path, { metadata: { annotations } });
  }

  async function taint(node: string, taints: readonly unknown[]): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, { spec: { taints } });
  }

  async function cordon(node: string, unschedulable: true | null): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable } });
  }

  async function expectDesired(rolled: Rolled, count: number): Promise<void> {
    await waitFor(
      stage,
      (observer) => observer.daemonSets.get(rolled.uid)?.status['desiredNumberScheduled'] === count,
      { description: `${String(count)} nodes desired` },
    );
  }
});

const STUCK = 'rollcall.test/stuck-terminating';
const POWER = 'simulate.rollcall.dev/power';
