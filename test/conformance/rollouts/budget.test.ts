/**
 * The budget of rolling updates on a control plane, real and local (spec 2.9, S3): what is bad is not
 * spread, what is unavailable already is replaced first, and edits on top of edits stay within it.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import { plainNodes } from '../control-plane/nodes.ts';
import { describeOnBackend } from '../scenarios/backends.ts';
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
  removeAll,
  reportSince,
  rollingUpdate,
  waitFor,
} from './rolled.ts';
import type { Rolled } from './rolled.ts';

/** Long enough for a test that stalls to come with its second edit before anything is available. */
const MIN_READY_SECONDS = 10;
/** So slow that there is time for what happens half-way, also on a machine that stalls. */
const SLOW_READY_MS = 6000;

describeOnBackend('the budget of a rolling update', { timeout: 1_200_000 }, (backend) => {
  const nodes = plainNodes(8);
  const names = nodes.map(({ metadata }) => metadata.name);
  let stage: Stage;

  before(async () => {
    stage = await openStage({ backend, name: 'rollout-budget', nodes });
  });
  afterEach(() => removeAll(stage));
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  for (const { maxUnavailable, resolved } of [
    { maxUnavailable: 3, resolved: 3 },
    { maxUnavailable: '20%', resolved: 2 },
    { maxUnavailable: '100%', resolved: 8 },
  ]) {
    it(`${String(maxUnavailable)} of eight nodes is ${String(resolved)}, and each pod is replaced once`, async () => {
      const rolled = await create({ maxUnavailable });
      const former = podUids(stage, rolled);
      const fromEvent = await edit(stage, rolled, { version: 'b' });
      await expectVersion(stage, rolled, 'b');
      const report = reportSince(stage, rolled, fromEvent);
      assertWithinBudget(report, rolled, resolved);
      assert.equal(report.creations.length, names.length);
      assert.deepEqual(
        report.deletions.map(({ podUid }) => podUid).sort(),
        [...former.values()].sort(),
      );
    });
  }

  it('three bad updates in a row never go beyond it, each replaces the bad pods first, and undo mends (#123232, #127903)', async () => {
    const rolled = await create({ maxUnavailable: 2 });
    const former = podUids(stage, rolled);
    let affected: readonly string[] = [];
    const begin = stage.observer.events.length;
    for (const version of ['bad-1', 'bad-2', 'bad-3']) {
      await edit(stage, rolled, { version, isBad: true });
      await waitFor(stage, (observer) => nodesAt(observer, rolled, version).length === 2, {
        description: `two nodes at ${version}`,
      });
      await expectRest(stage, rolled);
      const now = nodesAt(stage.observer, rolled, version);
      if (affected.length === 0) affected = now;
      assert.deepEqual(now, affected, `${version} replaced the bad pods and no other`);
    }
    await edit(stage, rolled, { version: 'a' });
    await expectVersion(stage, rolled, 'a');
    assertWithinBudget(reportSince(stage, rolled, begin), rolled, 2);
    const now = podUids(stage, rolled);
    for (const node of names.filter((name) => !affected.includes(name))) {
      assert.equal(now.get(node), former.get(node), `${node} was never touched`);
    }
  });

  it('holds with two edits within minReadySeconds (kruise #1323)', async () => {
    const rolled = await create({ maxUnavailable: 4, minReadySeconds: MIN_READY_SECONDS });
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    await waitFor(stage, () => readyPods(rolled, 'b').length === 4, {
      description: 'four pods of b are ready, none of them available',
    });
    const replaced = nodesAt(stage.observer, rolled, 'b');
    await edit(stage, rolled, { version: 'c' });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'c').length >= 4, {
      description: 'four nodes at c',
    });
    assert.deepEqual(nodesAt(stage.observer, rolled, 'c'), replaced, 'the unavailable ones first');
    await expectVersion(stage, rolled, 'c');
    assertWithinBudget(reportSince(stage, rolled, fromEvent), rolled, 4);
  });

  it('edited again half-way, ends at the last version everywhere, and no node gets a version twice', async () => {
    const rolled = await create({ maxUnavailable: 2 });
    const fromEvent = await edit(stage, rolled, { version: 'b', readyDelayMs: SLOW_READY_MS });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length >= 4, {
      description: 'half of the nodes at b',
    });
    await edit(stage, rolled, { version: 'c' });
    await expectVersion(stage, rolled, 'c');
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, 2);
    const placed = report.creations.map(({ node, revisionHash = '' }) => `${node} ${revisionHash}`);
    assert.equal(new Set(placed).size, placed.length);
    assert.ok(placed.length < 2 * names.length, 'some nodes went from a to c at once');
  });

  it('holds while the engine is stopped and started half-way, and each pod is replaced once', async () => {
    const rolled = await create({ maxUnavailable: 2 });
    const former = podUids(stage, rolled);
    const fromEvent = await edit(stage, rolled, { version: 'b', readyDelayMs: 1500 });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length >= 3, {
      description: 'three nodes at b',
    });
    await stage.restartEngine();
    await expectVersion(stage, rolled, 'b');
    const report = reportSince(stage, rolled, fromEvent);
    assertWithinBudget(report, rolled, 2);
    assert.deepEqual(
      report.deletions.map(({ podUid }) => podUid).sort(),
      [...former.values()].sort(),
    );
  });

  it('was never left by a second non-terminal pod on a node (S1)', () => {
    assert.deepEqual(stage.observer.violations, []);
  });

  function create(bounds: {
    readonly maxUnavailable: number | string;
    readonly minReadySeconds?: number;
  }): Promise<Rolled> {
    const { maxUnavailable, minReadySeconds } = bounds;
    return createRolled(stage, {
      name: 'agent',
      nodes: names,
      strategy: rollingUpdate({ maxUnavailable }),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    });
  }

  function readyPods(rolled: Rolled, version: string): readonly unknown[] {
    return livePods(stage, rolled).filter(
      (pod) => pod.isReady && pod.labels['version'] === version,
    );
  }
});
