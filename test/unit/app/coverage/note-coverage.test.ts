/** What coverage costs, and what becomes of it where a table does not answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepLogOfGone } from '../../../../src/app/log/flush-log.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { CoverageScene } from '../../../support/coverage-scene.ts';

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
});
