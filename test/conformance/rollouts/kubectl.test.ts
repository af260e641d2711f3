/**
 * `kubectl rollout status|history|undo|restart` against Rollcall, on the real control plane and on a
 * local cluster: they read what the built-in controller would have written, and must find it.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { ObjectList } from '../control-plane/api.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { describeOnBackend } from '../scenarios/backends.ts';
import { daemonSetPath, podPath } from '../scenarios/daemon-set.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import {
  assertWithinBudget,
  createRolled,
  edit,
  expectRest,
  expectVersion,
  livePods,
  nodesAt,
  podUids,
  reportSince,
  rollingUpdate,
  waitFor,
  waitUntilStill,
} from './rolled.ts';
import type { Rolled } from './rolled.ts';

const REVISIONS_PATH = '/apis/apps/v1/namespaces/default/controllerrevisions';
const MAX_UNAVAILABLE = 2;

describeOnBackend('kubectl rollout', { timeout: 1_200_000, usesKubectl: true }, (backend) => {
  const nodes = plainNodes(8);
  const names = nodes.map(({ metadata }) => metadata.name);
  let directory: string;
  let stage: Stage;
  let kubectl: Kubectl;
  let rolled: Rolled;

  before(async () => {
    const program = (await ensureBinaries()).kubectl;
    directory = await mkdtemp(join(tmpdir(), 'rollcall-rollout-'));
    stage = await openStage({ backend, name: 'rollout-kubectl', nodes });
    const { kubeconfigPath } = stage.cluster.access;
    kubectl = bindKubectl({ program, kubeconfigPath, cacheDirectory: join(directory, 'cache') });
    const strategy = rollingUpdate({ maxUnavailable: MAX_UNAVAILABLE });
    rolled = await createRolled(stage, { name: 'agent', nodes: names, strategy });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('status follows an edit to the end, its numbers only rise', async () => {
    // Slow enough for kubectl to see several steps, also where it starts slowly.
    const fromEvent = await edit(stage, rolled, { version: 'b', readyDelayMs: 4000 });
    const text = await kubectl.succeed('rollout status ds/agent --timeout=150s');
    const updated = [...text.matchAll(/(\d+) out of 8 new pods have been updated/g)].map(
      ([, count]) => Number(count),
    );
    assert.ok(updated.length > 1, text);
    assert.deepEqual(updated, updated.toSorted(byNumber), text);
    assert.match(text, /daemon set "agent" successfully rolled out\n$/);
    const { items } = await stage.admin.list('/api/v1/namespaces/default/pods');
    const versions = items.map(({ metadata }) => metadata.labels?.['version']);
    assert.deepEqual(versions, new Array<string>(names.length).fill('b'));
    await expectVersion(stage, rolled, 'b');
    assertWithinBudget(reportSince(stage, rolled, fromEvent), rolled, MAX_UNAVAILABLE);
  });

  it('history lists the revisions, and shows the template of each', async () => {
    assert.deepEqual(await historyNumbers(), [1, 2]);
    assert.match(await revision(1), /Image:\s+registry.example\/agent:a\n/);
    assert.match(await revision(2), /Image:\s+registry.example\/agent:b\n/);
    const unknown = await kubectl.run('rollout history ds/agent --revision=7');
    assert.equal(unknown.code, 1);
  });

  it('undo half-way restarts no pod that was never replaced, and renumbers the old revision', async () => {
    const before = await revisionNames();
    const former = podUids(stage, rolled);
    // Slow to become ready: between two steps there is time in which nothing is on its way.
    const fromEvent = await edit(stage, rolled, { version: 'c', readyDelayMs: 15_000 });
    await waitFor(
      stage,
      (observer) =>
        nodesAt(observer, rolled, 'c').length === 2 * MAX_UNAVAILABLE &&
        nodesAt(observer, rolled, 'b').length === names.length - 2 * MAX_UNAVAILABLE,
      { description: 'half of the nodes at c' },
    );
    const untouched = nodesAt(stage.observer, rolled, 'b');
    assert.match(
      await kubectl.succeed('rollout undo ds/agent'),
      /daemonset.apps\/agent rolled back/,
    );
    await expectVersion(stage, rolled, 'b');
    const now = podUids(stage, rolled);
    for (const node of untouched) assert.equal(now.get(node), former.get(node), node);
    for (const node of names) {
      if (!untouched.includes(node)) assert.notEqual(now.get(node), former.get(node), node);
    }
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, MAX_UNAVAILABLE);
    assert.equal(report.creations.length, 4 * MAX_UNAVAILABLE, 'half of the nodes, there and back');
    assert.deepEqual(await historyNumbers(), [1, 3, 4]);
    const after = await revisionNames();
    assert.equal(after.get(4), before.get(2), 'the same object with a new number (spec 2.10)');
  });

  it('undo --to-revision goes back to any revision of the history', async () => {
    const first = (await revisionNames()).get(1);
    await kubectl.succeed('rollout undo ds/agent --to-revision=1');
    await expectVersion(stage, rolled, 'a');
    assert.deepEqual(await historyNumbers(), [3, 4, 5]);
    assert.equal((await revisionNames()).get(5), first);
    const skipped = await kubectl.succeed('rollout undo ds/agent --to-revision=5');
    assert.match(skipped, /skipped rollback/);
  });

  it('restart replaces every pod once, within the budget', async () => {
    const former = podUids(stage, rolled);
    const fromEvent = stage.observer.events.length;
    assert.match(await kubectl.succeed('rollout restart ds/agent'), /agent restarted/);
    await kubectl.succeed('rollout status ds/agent --timeout=150s');
    await expectVersion(stage, rolled, 'a');
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, MAX_UNAVAILABLE);
    assert.equal(report.creations.length, names.length);
    for (const [node, uid] of podUids(stage, rolled)) assert.notEqual(uid, former.get(node));
    assert.deepEqual(await historyNumbers(), [3, 4, 5, 6]);
  });

  it('with OnDelete nothing restarts until a pod is deleted, which then comes back as edited', async () => {
    await stage.admin.patch(daemonSetPath({ name: 'agent' }), {
      spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
    });
    const former = podUids(stage, rolled);
    await edit(stage, rolled, { version: 'd' });
    await expectRest(stage, rolled);
    assert.deepEqual(podUids(stage, rolled), former, 'nothing was restarted');
    assert.deepEqual(await historyNumbers(), [3, 4, 5, 6, 7]);
    const refused = await kubectl.run('rollout status ds/agent --timeout=5s');
    assert.match(refused.stderr, /only available for RollingUpdate/);
    const [victim] = livePods(stage, rolled);
    assert.ok(victim !== undefined);
    await stage.admin.delete(podPath(victim));
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'd').includes(victim.node ?? ''), {
      description: 'the deleted pod comes back as edited',
    });
    await waitUntilStill(stage);
    const changed = [...podUids(stage, rolled)].filter(([node, uid]) => former.get(node) !== uid);
    assert.equal(changed.length, 1);
  });

  it('never put two non-terminal pods on a node (S1)', () => {
    assert.deepEqual(stage.observer.violations, []);
  });

  async function historyNumbers(): Promise<readonly number[]> {
    const text = await kubectl.succeed('rollout history ds/agent');
    return [...text.matchAll(/^(\d+)\s/gm)].map(([, number]) => Number(number));
  }

  function revision(number: number): Promise<string> {
    return kubectl.succeed(`rollout history ds/agent --revision=${String(number)}`);
  }

  async function revisionNames(): Promise<ReadonlyMap<number, string>> {
    const list: ObjectList = await stage.admin.list(REVISIONS_PATH);
    return new Map(list.items.map((item) => [Number(item['revision']), item.metadata.name]));
  }
});

function byNumber(left: number, right: number): number {
  return left - right;
}
