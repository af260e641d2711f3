/**
 * A thousand nodes rolled at 10 % on a real control plane, followed by kubectl; then half of them rolled
 * and undone. Availability and restarts by an independent witness. The fake kubelets delete by name, and nothing
 * fences that: a name that came back would lose its new pod (S13).
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { countEligibleNodes } from '../control-plane/observer.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { expectNoNameTwice } from '../scenarios/expectations.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import {
  assertWithinBudget,
  createRolled,
  edit,
  expectVersion,
  nodesAt,
  podUids,
  reportSince,
  rollingUpdate,
  waitFor,
} from './rolled.ts';
import type { Rolled } from './rolled.ts';

const NODES_COUNT = 1000;
const MAX_UNAVAILABLE = 100;
const DEADLINE_MS = 480_000;

const skip = skipWithoutTools([TOOLS.go]);

describe('a thousand nodes rolled at 10 %', { timeout: 1_700_000, skip }, () => {
  let directory: string;
  let stage: Stage;
  let kubectl: Kubectl;
  let rolled: Rolled;

  before(async () => {
    const program = (await ensureBinaries()).kubectl;
    directory = await mkdtemp(join(tmpdir(), 'rollcall-thousand-'));
    const nodes = plainNodes(NODES_COUNT);
    stage = await openStage({ backend: 'real', name: 'rollout-thousand', nodes });
    const { kubeconfigPath } = stage.cluster.access;
    kubectl = bindKubectl({ program, kubeconfigPath, cacheDirectory: join(directory, 'cache') });
    await waitFor(stage, (observer) => countEligibleNodes(observer) === NODES_COUNT, {
      description: 'all nodes untainted',
      deadlineMs: DEADLINE_MS,
    });
    rolled = await createRolled(stage, {
      name: 'agent',
      nodes: nodes.map(({ metadata }) => metadata.name),
      strategy: rollingUpdate({ maxUnavailable: '10%' }),
      deadlineMs: DEADLINE_MS,
    });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('keep 900 of them available at every moment, and replace each pod exactly once', async (context) => {
    const before = podUids(stage, rolled);
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    const status = kubectl.start('rollout status ds/agent');
    await expectVersion(stage, rolled, { version: 'b', deadlineMs: DEADLINE_MS });
    const report = reportSince(stage, rolled, fromEvent);
    context.diagnostic(
      `${String(NODES_COUNT)} nodes rolled in ${(report.tookMs / 1000).toFixed(1)} s, ` +
        `${String(report.availableNodesMin)} available at the lowest`,
    );
    assertWithinBudget(report, rolled, MAX_UNAVAILABLE);
    assert.equal(report.creations.length, NODES_COUNT);
    assert.deepEqual(
      report.deletions.map(({ podUid }) => podUid).sort(),
      [...before.values()].sort(),
      'each former pod went once, and none of the new ones',
    );
    assert.equal(new Set(report.creations.map(({ node }) => node)).size, NODES_COUNT);
    await status.waitFor(/daemon set "agent" successfully rolled out/);
    assert.match(await status.stop(), /\d+ out of 1000 new pods have been updated/);
  });

  it('are undone half-way, and no pod that was never replaced restarts', async (context) => {
    const former = podUids(stage, rolled);
    // Slow to become ready: the undo must come while many are still to be replaced.
    const fromEvent = await edit(stage, rolled, { version: 'c', readyDelayMs: 3000 });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'c').length >= NODES_COUNT / 3, {
      description: 'a third of the nodes at c',
      deadlineMs: DEADLINE_MS,
    });
    await kubectl.succeed('rollout undo ds/agent');
    await expectVersion(stage, rolled, { version: 'b', deadlineMs: DEADLINE_MS });
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, MAX_UNAVAILABLE);
    const committed = versionOfGeneration(stage, rolled, 'generation');
    const noticed = versionOfGeneration(stage, rolled, 'observedGeneration');
    const uids = new Set(former.values());
    const restarts = report.deletions.filter(({ podUid }) => uids.has(podUid));
    const onTheirWay = restarts.filter(({ resourceVersion }) =>
      isLater(resourceVersion, committed),
    );
    const kept = [...podUids(stage, rolled)].filter(([node, uid]) => former.get(node) === uid);
    context.diagnostic(
      `${String(kept.length)} pods were never touched; ` +
        `${String(onTheirWay.length)} deletes were on their way when the undo came`,
    );
    const late = restarts.filter(({ resourceVersion }) => isLater(resourceVersion, noticed));
    assert.deepEqual(late, [], 'nothing that was never replaced goes once the undo is noticed');
    assert.ok(onTheirWay.length < MAX_UNAVAILABLE, 'one batch at most was on its way');
    assert.ok(kept.length > NODES_COUNT / 3, 'it was undone half-way');
  });

  it('never had two non-terminal pods on a node (S1)', () => {
    assert.deepEqual(stage.observer.violations, []);
  });

  it('never had a pod under the name of a former one, so that late deletes by name hit nobody (S13)', () => {
    expectNoNameTwice(stage);
  });
});

/** The resourceVersion at which the present generation was committed, or was first observed. */
function versionOfGeneration(
  stage: Stage,
  rolled: Rolled,
  member: 'generation' | 'observedGeneration',
): string {
  const { generation } = stage.observer.daemonSets.get(rolled.uid) ?? {};
  const event = stage.observer.events.find(
    ({ record }) =>
      record.kind === 'DaemonSet' && record.uid === rolled.uid && record[member] === generation,
  );
  assert.ok(event !== undefined);
  return event.record.resourceVersion;
}

/** Versions of one etcd are ordered over all kinds. */
function isLater(left: string, right: string): boolean {
  return BigInt(left) > BigInt(right);
}
