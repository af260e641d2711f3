// Runs of one key that overlap, crash or resume late: memo, lock and intents, end to end.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { GateRule, Passage } from '../support/simulation/gate.ts';
import { podOn, podsOf } from '../support/simulation/look.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

async function settledWorld(nodes: readonly string[]): Promise<World> {
  const world = await World.start({ nodes });
  world.addDaemonSet('agent');
  await world.settle();
  return world;
}

/** Rules for the next invocations of reconcile, one each, in their order. */
function armReconcile(world: World, rules: readonly (GateRule | undefined)[]): void {
  const waiting = [...rules];
  world.host.ruleFor = (name) => (name === 'reconcile' ? waiting.shift() : undefined);
}

function once(order: 'kill' | 'freeze', isHere: (passage: Passage) => boolean): GateRule {
  let isDone = false;
  return (passage) => {
    if (isDone || !isHere(passage)) return undefined;
    isDone = true;
    return order;
  };
}

const after =
  (operation: string) =>
  (passage: Passage): boolean =>
    passage.moment === 'after' && passage.operation === operation;
const before =
  (operation: string) =>
  (passage: Passage): boolean =>
    passage.moment === 'before' && passage.operation === operation;

for (const operation of ['readMeta', 'readName', 'readDaemonSet', 'readState', 'readSlice']) {
  test(`row 73: an edit that is ingested after ${operation} is not skipped`, async () => {
    const world = await settledWorld(['n1', 'n2', 'n3']);
    // A warm process knows the slices, and one that is cold reads none when it skips: the first that gets there.
    world.host.coolDown();
    const rule = once('freeze', after(operation));
    world.host.ruleFor = (name) => (name === 'reconcile' ? rule : undefined);
    // A run that reads everything and has nothing to do: what it remembers is all that can keep the next one away.
    const { name } = podOn(world, 'agent', 'n1').metadata;
    world.api.change('pods', { namespace: 'ns', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, touched: 'yes' } },
    }));
    // A label is a calm change: the watcher sends it within a second.
    await world.advance(1_500);
    const frozen = world.host.frozen[0] ?? assert.fail(`no run stood still after ${operation}`);
    const template = { labels: { app: 'agent' } };
    world.api.editDaemonSet('agent', (spec) => ({
      ...spec,
      template: {
        metadata: template,
        spec: {
          ...((spec['template'] as JsonObject)['spec'] as JsonObject),
          nodeSelector: { a: 'b' },
        },
      },
    }));
    world.api.put('nodes', rawNode('n1', { labels: { a: 'b' } }));
    await world.advance(500);
    frozen.thaw();
    await world.settle();
    assert.equal(podsOf(world, 'agent').length, 1);
  });
}

test('row 75: a crash between outcomes and status is made up for by redelivery', async () => {
  const world = await World.start({ nodes: ['n1', 'n2', 'n3'] });
  let states = 0;
  armReconcile(world, [
    once('kill', (passage) => {
      if (passage.operation === 'writeState' && passage.moment === 'after') states += 1;
      return states === 2;
    }),
  ]);
  world.addDaemonSet('agent');
  await world.advance(5000);
  assert.equal(states, 2, 'it crashed after its outcomes were recorded');
  assert.equal(podsOf(world, 'agent').length, 3);
  await world.settle();
});

test('row 76: the older of two runs wins the lock, and what only the younger saw is acted upon', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  armReconcile(world, [once('freeze', before('writeState')), once('freeze', before('writeState'))]);
  world.controllers.deletePod(podOn(world, 'agent', 'n1'));
  await world.advance(2000);
  assert.equal(world.host.frozen.length, 1, 'the older run stands before the lock');
  world.addNode('n4');
  await world.advance(500);
  void world.reconcileNow('agent');
  await world.advance(500);
  assert.equal(world.host.frozen.length, 2, 'the younger one as well');
  world.host.frozen[0]?.thaw();
  await world.advance(2000);
  world.host.frozen[1]?.thaw();
  await world.advance(4000);
  assert.equal(podsOf(world, 'agent').length, 4, 'the change that only the younger run saw');
  await world.settle();
});

test('rows 40, 78, protocol 4: a delete of a killed run that arrives late hits only its own victim', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  const victim = podOn(world, 'agent', 'n1').metadata.uid;
  let isStuck = false;
  world.site.intervene = (effect) => {
    if (effect.kind !== 'delete-pod' || isStuck) return undefined;
    isStuck = true;
    return { kind: 'stuck' };
  };
  armReconcile(world, [once('kill', after('execute'))]);
  world.api.put('nodes', rawNode('n1', { taints: [{ key: 'gone', effect: 'NoExecute' }] }));
  await world.advance(3000);
  assert.ok(isStuck, 'the delete is on its way and its run is dead');
  // It is wanted again before the request arrives: the pod stays, until the late request comes.
  world.api.put('nodes', rawNode('n1'));
  world.api.put('nodes', rawNode('n2', { taints: [{ key: 'gone', effect: 'NoExecute' }] }));
  await world.advance(120_000);
  assert.equal(podOn(world, 'agent', 'n1').metadata.uid, victim);
  world.api.releaseStuck();
  await world.settle();
  assert.notEqual(podOn(world, 'agent', 'n1').metadata.uid, victim);
  assert.equal(podsOf(world, 'agent').length, 2);
});

test('faults row 1: a run killed at any of its passages leaves every prefix safe', async () => {
  for (let passage = 1; ; passage += 1) {
    const world = await World.start({ nodes: ['n1', 'n2', 'n3'] });
    let isKilled = false;
    armReconcile(world, [
      (each) => {
        isKilled ||= each.index === passage;
        return each.index === passage ? 'kill' : undefined;
      },
    ]);
    world.addDaemonSet('agent');
    await world.advance(500);
    const [pod] = podsOf(world, 'agent');
    if (pod !== undefined) world.controllers.setPhase(pod, 'Failed');
    await world.settle();
    if (!isKilled) return assert.ok(passage > 30, `a run has ${passage} passages`);
  }
});
