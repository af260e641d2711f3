/** What coverage costs, and what becomes of it where a table does not answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepLogOfGone } from '../../../../src/app/log/flush-log.ts';
import { toldView } from '../../../../src/app/coverage/note-coverage.ts';
import { projectLivePod } from '../../../../src/core/projections/project.ts';
import type { WatchedKind } from '../../../../src/core/model/projections.ts';
import { computeView } from '../../../../src/core/view/view.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { CoverageScene } from '../../../support/coverage-scene.ts';
import { projectNode } from '../../../support/view-mirror.ts';

const DAY_MS = 86_400_000;

async function begun(): Promise<CoverageScene> {
  const scene = new CoverageScene(1, 2);
  await scene.begin();
  return scene;
}

function writesOf({ world }: CoverageScene): readonly string[] {
  return world.view.calls.flatMap(({ operation, isWrite }) =>
    isWrite && /State|Coverage|Log/.test(operation) ? [operation] : [],
  );
}

function heardAt(atMs: number): Record<WatchedKind, number> {
  return { Node: atMs, Pod: atMs, DaemonSet: atMs, ControllerRevision: atMs };
}

function relabel({ world }: CoverageScene, name: string): void {
  world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, colour: 'blue' } },
  }));
}

async function sumsOf(scene: CoverageScene): Promise<readonly number[]> {
  const [row = []] = (await scene.state)?.coverage?.days.rows ?? [];
  return [0, 1, 2].map((column) => row[column] ?? 0);
}

async function rowsOf(scene: CoverageScene): Promise<number> {
  return (await scene.state)?.coverage?.days.rows.length ?? 0;
}

describe('counting coverage', () => {
  it('writes nothing while nothing happens but one item in a week, and keeps eight days', async () => {
    const scene = await begun();
    const before = writesOf(scene).length;
    await scene.pass(15 * DAY_MS);
    const writes = writesOf(scene).slice(before);
    const count = (operation: string): number => writes.filter((each) => each === operation).length;
    // Each memo expires within six hours, and the look that finds so writes it anew.
    assert.ok(count('writeState') <= 15 * 4 + 6, String(count('writeState')));
    assert.equal(count('putCoverageDays'), 2);
    assert.ok((await rowsOf(scene)) <= 9);
  });

  it('writes no state because counts changed: a change of who is served costs what any change does', async () => {
    const scene = await begun();
    const { world } = scene;
    const runOver = async (change: () => void): Promise<readonly string[]> => {
      const before = writesOf(scene).length;
      change();
      await world.clock.advance(1_000);
      await world.mirror.sync();
      for (let look = 0; look < 3; look += 1) await world.run();
      return writesOf(scene).slice(before);
    };
    const [pod] = world.pods;
    assert.ok(pod);
    const ofLabel = await runOver(() => {
      relabel(scene, pod.metadata.name);
    });
    const before = (await scene.state)?.coverage;
    const ofServed = await runOver(() => {
      world.setPhase(pod.metadata.name, 'Pending');
    });
    const after = (await scene.state)?.coverage;
    assert.deepEqual([before?.covered, after?.covered], [2, 1]);
    assert.deepEqual(ofServed, ofLabel);
  });

  it('counts what the watcher told, not what a run read live beside older nodes (S20)', async () => {
    const { world } = await begun();
    const { daemonSet, clock, cluster } = world;
    const nodes = cluster.list('nodes').map(projectNode);
    const read = { nodes, gone: [], revisions: [], opaque: [] };
    const pods = world.pods.map(projectLivePod);
    const live = { daemonSet, read: { ...read, pods }, nowMs: clock.nowMs() };
    const view = computeView({ ...live, ...live.read });
    const podsOf = (shown: typeof pods): readonly string[] =>
      toldView({ ...live, view, shown }).nodes.flatMap((node) => node.pods.map(({ name }) => name));
    const [first] = pods;
    assert.ok(first);
    assert.deepEqual(podsOf([first]), [first.name]);
    assert.equal(podsOf(pods).length, 2);
  });

  it('counts a message that came late as of when it was cut (S20)', async () => {
    const scene = await begun();
    const { world } = scene;
    const before = (await scene.state)?.coverage;
    const cutMs = world.clock.nowMs();
    const [pod] = world.pods;
    assert.ok(pod);
    world.setPhase(pod.metadata.name, 'Pending');
    await world.clock.advance(600_000);
    await world.mirror.sync({ heardAtMs: heardAt(cutMs) });
    await world.run();
    const after = (await scene.state)?.coverage;
    assert.deepEqual([after?.at, after?.covered], [before?.at, 1]);
  });

  it('counts nothing of a view in which one watch stands still, and writes so once (S20)', async () => {
    const scene = await begun();
    const { world } = scene;
    const nodesMs = world.clock.nowMs();
    const before = (await scene.state)?.coverage;
    const [covered, uncovered] = await sumsOf(scene);
    await world.clock.advance(180_000);
    const [pod] = world.pods;
    assert.ok(pod);
    world.setPhase(pod.metadata.name, 'Pending');
    const nowMs = world.clock.nowMs();
    await world.mirror.sync({ heardAtMs: { ...heardAt(nowMs), Node: nodesMs } });
    await world.run();
    const mixed = (await scene.state)?.coverage;
    assert.deepEqual(mixed, { ...before, putOffSince: Math.floor(nodesMs / 1000) });
    const writes = writesOf(scene).length;
    for (let look = 0; look < 3; look += 1) await world.run();
    assert.equal(writesOf(scene).length, writes);
    await world.clock.advance(60_000);
    world.setPhase(pod.metadata.name, 'Running');
    await world.mirror.sync();
    await world.run();
    assert.deepEqual(await sumsOf(scene), [covered, uncovered, 2 * 240]);
  });

  it('keeps the days in the state while they get no item', async () => {
    const scene = await begun();
    const { view } = scene.world;
    const put = view.putCoverageDays.bind(view);
    view.putCoverageDays = () => Promise.reject(new Error('no table'));
    await scene.pass(10 * DAY_MS);
    assert.ok((await rowsOf(scene)) >= 10);
    view.putCoverageDays = put;
    await scene.pass(DAY_MS);
    assert.ok((await rowsOf(scene)) <= 3);
    const { items } = await view.listCoverageDays(scene.world.registration.clusterUid, {
      fromDay: 0,
    });
    assert.ok(items.flatMap(({ rows }) => rows).length >= 9);
  });

  it('knows nothing of the time since the last count where stops cannot be read', async () => {
    const scene = await begun();
    scene.world.freezes.readStops = () => Promise.reject(new Error('no table'));
    await scene.pass(DAY_MS);
    const sums = (await scene.state)?.coverage?.days.rows ?? [];
    assert.equal(
      sums.reduce((total, [covered = 0]) => total + covered, 0),
      0,
    );
    assert.ok(sums.some(([, , unknown = 0]) => unknown > 0));
  });

  it('keeps the days of a DaemonSet that is gone', async () => {
    const scene = await begun();
    await scene.pass(DAY_MS);
    const { view, registration, daemonSet, log } = scene.world;
    const { clusterUid } = registration;
    const ref = { clusterUid, uid: uid(daemonSet.metadata.uid) };
    await keepLogOfGone(ref, { namespace: 'system', name: 'agents' }, { view, log });
    const { items } = await view.listCoverageDays(clusterUid, { fromDay: 0 });
    assert.deepEqual(
      items.map(({ name, rows }) => [name, rows.length]),
      [['agents', await rowsOf(scene)]],
    );
  });

  it('lets the state of one that is gone stay while the table takes nothing, but not for an item that no table keeps', async () => {
    const scene = await begun();
    await scene.pass(DAY_MS);
    const { view, registration, daemonSet, log } = scene.world;
    const ref = { clusterUid: registration.clusterUid, uid: uid(daemonSet.metadata.uid) };
    const keep = (problem: Error, at: 'read' | 'write'): Promise<void> => {
      const fail = (): Promise<never> => Promise.reject(problem);
      const readState = at === 'read' ? fail : view.readState.bind(view);
      const store = { readState, putCoverageDays: fail, putLogItem: fail };
      return keepLogOfGone(ref, { namespace: 'system', name: 'agents' }, { view: store, log });
    };
    const named = (name: string, code?: string): Error =>
      Object.assign(new Error(name), { name, code });
    for (const at of ['read', 'write'] as const) {
      await assert.rejects(keep(named('ThrottlingException'), at), { name: 'ThrottlingException' });
    }
    await keep(named('ItemUnreadableError'), 'read');
    await keep(named('ItemTooLargeError', 'item-too-large'), 'write');
  });
});
