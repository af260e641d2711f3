// Slot, successor and foreign names: who may stand on a node, end to end.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { uid } from '../../src/core/model/identifiers.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { phaseOf } from '../support/simulation/controllers.ts';
import { podOn, podsOf, theWatcher } from '../support/simulation/look.ts';
import { rawNode, rawPod } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

test('rows 38, 85: orphans that are not seen yet hold the pods of the DaemonSet that is made again', async () => {
  const world = await World.start({ nodes: ['n1', 'n2', 'n3'] });
  world.addDaemonSet('agent');
  await world.settle();
  const uids = (): readonly string[] => world.api.list('pods').map((pod) => pod.metadata.uid);
  const before = uids();
  const { faults, source } = theWatcher(world);
  faults.frozen.add('Pod');
  world.controllers.deleteDaemonSet('agent', 'orphan');
  await world.advance(1000);
  const ref = { clusterUid: world.api.clusterUid, uid: uid(world.addDaemonSet('agent')) };
  await world.advance(15_000);
  assert.ok((await world.view.readDaemonSet(ref)) !== undefined, 'the DaemonSet is seen');
  assert.deepEqual(uids(), before, 'no second pod beside an orphan');
  source.thaw();
  await world.settle();
  assert.deepEqual(uids(), before, 'adopted, not doubled');
});

test('row 86, protocol 5: a successor create in flight when its predecessor vanishes makes one pod', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent', { finalizers: ['example.com/hold'] });
  await world.settle();
  const old = podOn(world, 'agent', 'n1');
  let stuck: string | undefined;
  world.site.intervene = (effect) => {
    if (effect.kind !== 'create-pod' || stuck !== undefined) return undefined;
    stuck = effect.name;
    return { kind: 'stuck' };
  };
  // Terminal and held by its finalizer: the node needs a successor under another name.
  world.controllers.deletePod(old);
  await world.clock.advanceUntil(() => stuck !== undefined, { withinMs: 30_000 });
  assert.notEqual(stuck, old.metadata.name);
  world.api.remove('pods', old.metadata.name, 'ns');
  // A request is dead after twice its time-out; this one arrives just before.
  await world.advance(15_000);
  world.api.releaseStuck();
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 2);
});

test('row 71, row 86: a predecessor that a restored etcd brought back to life gets no successor', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent', { finalizers: ['example.com/hold'] });
  await world.settle();
  const old = podOn(world, 'agent', 'n1');
  const backup = world.api.backup();
  // A backup from before the last renewal of the Lease: that is how a restore is noticed.
  await world.advance(20_000);
  let isRestored = false;
  world.site.answer = (what) => {
    const held = world.api.find('pods', old.metadata.name, 'ns');
    // In the run that is about to create its successor, after it decided to.
    if (what !== 'LIST daemonsets' || isRestored || held === undefined) return undefined;
    if (phaseOf(held) === 'Failed') {
      isRestored = true;
      world.api.restore(backup);
    }
    return undefined;
  };
  world.controllers.deletePod(old);
  await world.settle();
  assert.ok(isRestored);
  assert.equal(podOn(world, 'agent', 'n1').metadata.uid, old.metadata.uid);
});

test('row 47: a terminal pod held by a finalizer gets a successor, and no second one', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent', { finalizers: ['example.com/hold'] });
  await world.settle();
  const old = podOn(world, 'agent', 'n1');
  world.controllers.deletePod(old);
  await world.advance(60_000);
  world.assertSafe();
  const here = podsOf(world, 'agent').filter((pod) => nodeOf(pod) === 'n1');
  assert.equal(here.length, 2, 'the held one and its successor');
  const key = { namespace: 'ns', name: old.metadata.name };
  world.api.change('pods', key, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, finalizers: [] },
  }));
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 2);
});

test('row 87, protocol 9: an orphan of another controller is left alone', async () => {
  const world = await World.start({ nodes: ['n1'] });
  const owner = { kind: 'Job', uid: 'somebody-else' };
  const theirs = world.api.put(
    'pods',
    rawPod({ name: 'theirs', app: 'agent', node: 'n1' }, { owner }),
  );
  world.addDaemonSet('agent');
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 1);
  const found = world.api.find('pods', 'theirs', 'ns');
  assert.equal(found?.metadata.uid, theirs.metadata.uid);
});

test('S13, row 13: a name that no view ever showed outlasts a clock that steps ten minutes ahead', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent', { nodeSelector: { go: 'yes' } });
  await world.settle();
  const label = (name: string, go: string): void => {
    world.api.put('nodes', rawNode(name, { labels: { go } }));
  };
  const [watcher] = world.watchers;
  watcher?.faults.frozen.add('Pod');
  label('n1', 'yes');
  const isMade = (): boolean => podsOf(world, 'agent').length > 0;
  await world.clock.advanceUntil(isMade, { withinMs: 30_000 });
  const { name } = podOn(world, 'agent', 'n1').metadata;
  // It comes and goes while nobody sees, and the node does not want one any more.
  label('n1', 'no');
  world.api.remove('pods', name, 'ns');
  watcher?.source.thaw();
  await world.converge();
  world.functionClock.skewMs += 11 * 60_000;
  // A write of the state by the clock that is wrong.
  label('n2', 'yes');
  await world.settle();
  world.functionClock.skewMs = 0;
  label('n1', 'yes');
  await world.settle();
  assert.notEqual(podOn(world, 'agent', 'n1').metadata.name, name);
});
