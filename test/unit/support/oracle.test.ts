/** The simulation's oracle: what a cluster at rest may and may not look like (spec 2.5, 2.11, 2.12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { differences } from '../../support/simulation/oracle.ts';
import { setImage } from '../../support/simulation/look.ts';
import { World } from '../../support/simulation/world.ts';

const SPEC = { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 0 };

/** A DaemonSet at rest whose pod was made before the last edit of its template. */
async function withOldPod(): Promise<World> {
  const world = await World.start({ nodes: ['n1'] });
  world.addDaemonSet('agent', { spec: SPEC });
  await world.converge();
  setImage(world, 'agent', 2);
  await world.converge();
  return world;
}

describe('a simulated cluster at rest', () => {
  it('keeps a revision that a pod was made of, whatever the limit', async () => {
    const world = await withOldPod();
    assert.equal(world.api.list('controllerrevisions').length, 2);
    assert.deepEqual(differences(world.api), []);
  });

  it('keeps it also where a taint keeps the pod, and a rolling update of no node replaces none', async () => {
    const world = await World.start({ nodes: ['n1'] });
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } };
    world.addDaemonSet('agent', { spec: { ...SPEC, updateStrategy } });
    await world.converge();
    world.addNode('n1', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] });
    setImage(world, 'agent', 2);
    await world.converge();
    assert.equal(world.api.list('controllerrevisions').length, 2);
    assert.deepEqual(differences(world.api), []);
  });

  it('keeps no other one beyond the limit', async () => {
    const world = await withOldPod();
    const [, current] = world.api.list('controllerrevisions');
    assert.ok(current !== undefined);
    const { labels, ...metadata } = current.metadata;
    const unused = { ...metadata, name: 'unused', labels: { ...labels } };
    unused.labels['controller-revision-hash'] = 'unused';
    world.api.put('controllerrevisions', { ...current, metadata: unused, revision: 1 });
    assert.deepEqual(differences(world.api), ['agent: 3 revisions with limit 0']);
  });

  it('has true counters, also of what OnDelete leaves old', async () => {
    const world = await withOldPod();
    for (const counter of ['updatedNumberScheduled', 'numberMisscheduled', 'numberUnavailable']) {
      const truth = world.api.find('daemonsets', 'agent', 'ns')?.['status'] as JsonObject;
      const write = (status: JsonObject): void => {
        const key = { namespace: 'ns', name: 'agent' };
        world.api.change('daemonsets', key, (object) => ({ ...object, status }));
      };
      write({ ...truth, [counter]: 1 });
      assert.match(differences(world.api).join(), /^agent: status /, counter);
      write(truth);
    }
  });
});
