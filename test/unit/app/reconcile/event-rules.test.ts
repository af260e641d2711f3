/** spec 2.8: what is told on the DaemonSet, and that telling costs nothing else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const named = (world: ReconcileWorld, reason: string): readonly KubernetesObject[] =>
  world.cluster.list('events').filter((event) => event['reason'] === reason);

const lines = (world: ReconcileWorld, reason: string): readonly string[] =>
  named(world, reason).map((event) => `${String(event['count'])} × ${String(event['message'])}`);

const countOf = (events: readonly KubernetesObject[]): number =>
  events.reduce((sum, event) => sum + Number(event['count']), 0);

const combined = (world: ReconcileWorld, reason: string): KubernetesObject => {
  const [event, ...others] = named(world, reason).filter((each) =>
    String(each['message']).startsWith('(combined from similar events): '),
  );
  assert.ok(event !== undefined && others.length === 0);
  return event;
};

const nameOn = (world: ReconcileWorld, node: string): string =>
  world.pods.find((pod) => nodeOf(pod) === node)?.metadata.name ?? '';

describe('SuccessfulCreate', () => {
  it('of thirty pods: nine single Events and one combined, as `kubectl get events` shows upstream', async () => {
    const world = await ReconcileWorld.settled({ nodes: 30 });
    const events = named(world, 'SuccessfulCreate');
    assert.equal(events.length, 10);
    assert.equal(countOf(events), 30);
    assert.equal(combined(world, 'SuccessfulCreate')['count'], 21);
  });

  it('raises the combined Event from then on, one request per run and minute', async () => {
    const world = await ReconcileWorld.settled({ nodes: 30 });
    const { name } = combined(world, 'SuccessfulCreate').metadata;
    await world.clock.advance(60_000);
    for (let index = 31; index <= 50; index += 1) world.addNode(`node-00${index}`);
    const before = world.cluster.requests.length;
    await world.settle();
    const told = world.cluster.requests.slice(before).filter((text) => text.includes('-event '));
    assert.deepEqual(told, [`patch-event ${name}`]);
    const event = combined(world, 'SuccessfulCreate');
    assert.equal(event['count'], 41);
    assert.ok(String(event['lastTimestamp']) > String(event['firstTimestamp']));
  });

  it('makes the combined Event anew when it has expired', async () => {
    const world = await ReconcileWorld.settled({ nodes: 30 });
    for (const event of world.cluster.list('events')) {
      world.cluster.remove('events', event.metadata.name, 'system');
    }
    await world.clock.advance(60_000);
    world.addNode('node-0099');
    await world.settle();
    assert.equal(combined(world, 'SuccessfulCreate')['count'], 22);
    assert.equal(world.metrics.sum('ReconcileEventsLost'), 0);
  });

  it('begins with single ones when the tallies were lost: harmless', async () => {
    const world = await ReconcileWorld.settled({ nodes: 30 });
    const { events: _lost, ...state } = await world.state();
    await world.view.writeState(world.ref, state);
    world.addNode('node-0099');
    await world.settle();
    assert.equal(named(world, 'SuccessfulCreate').length, 11);
  });
});

describe('telling', () => {
  it('never fails a run, nor keeps its memo back', async () => {
    const world = new ReconcileWorld({ nodes: 12 });
    world.cluster.hooks = {
      beforeEffect: ({ kind }) =>
        kind === 'create-event' || kind === 'patch-event'
          ? {
              kind: 'answer',
              outcome: { kind: 'refused', code: 'forbidden', status: 403, message: 'no' },
            }
          : undefined,
    };
    await world.settle();
    assert.equal(world.placed.length, 12);
    assert.equal((await world.run()).kind, 'skipped');
    assert.equal(world.metrics.sum('ReconcileEventsLost'), 10);
  });

  it('writes no state of its own, and none when there is nothing to tell', async () => {
    const world = await ReconcileWorld.settled({ nodes: 12 });
    const { version, events } = await world.state();
    assert.deepEqual(
      events?.map(({ reason, singles }) => `${reason} ${singles}`),
      ['SuccessfulCreate 9'],
    );
    await world.clock.advance(2 * 3_600_000);
    await world.step();
    const later = await world.state();
    assert.equal(later.version, version);
    assert.deepEqual(later.events, events);
  });
});

describe('deletes', () => {
  it('are told when they were sent, and not when the pod was gone already', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const [first, second] = [nameOn(world, 'node-0001'), nameOn(world, 'node-0002')];
    const taints = [{ key: 'example.com/drained', effect: 'NoExecute' }];
    world.addNode('node-0001', { taints });
    world.addNode('node-0002', { taints });
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind === 'delete-pod' && effect.name === second) {
          world.cluster.remove('pods', second, 'system');
        }
        return undefined;
      },
    };
    await world.settle();
    assert.deepEqual(lines(world, 'SuccessfulDelete'), [`1 × Deleted pod: ${first}`]);
    assert.deepEqual(lines(world, 'FailedDelete'), []);
    assert.equal(world.placed.length, 1);
  });

  it('that are refused are told with what the API server said', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0001', { taints: [{ key: 'k', effect: 'NoExecute' }] });
    let isRefusing = true;
    world.cluster.hooks = {
      beforeEffect: ({ kind }) =>
        kind === 'delete-pod' && isRefusing
          ? {
              kind: 'answer',
              outcome: { kind: 'refused', code: 'forbidden', status: 403, message: 'not yours' },
            }
          : undefined,
    };
    for (let round = 0; round < 3; round += 1) {
      await world.step();
      await world.clock.advance(20_000);
    }
    isRefusing = false;
    await world.settle();
    const [line, ...others] = lines(world, 'FailedDelete');
    assert.match(line ?? '', /^3 × Error deleting: not yours$/);
    assert.deepEqual(others, [], 'an equal message raises its Event');
    assert.equal(world.placed.length, 1);
  });
});

describe('finished pods', () => {
  it('upstream never tests: Succeeded-pod event', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const name = nameOn(world, 'node-0001');
    world.setPhase(name, 'Succeeded');
    await world.settle();
    const message = `Found succeeded daemon pod system/${name} on node node-0001, will try to delete it`;
    const [event, ...others] = named(world, 'SucceededDaemonPod');
    assert.deepEqual(others, []);
    assert.equal(event?.['type'], 'Normal');
    assert.equal(event['message'], message);
    assert.deepEqual(world.placed, ['node-0001', 'node-0002'], 'replaced, without back-off');
  });

  it('that are not found as they were seen are not told', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const name = nameOn(world, 'node-0001');
    world.setPhase(name, 'Failed');
    await world.mirror.sync();
    world.setPhase(name, 'Running');
    await world.run();
    assert.deepEqual(lines(world, 'FailedDaemonPod'), []);
  });
});

describe('upstream never tests: Namespace terminating (2.8)', () => {
  it('is silent, and no key is frozen by it: creates go on when it ends', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const before = world.cluster.list('events').length;
    world.addNode('node-0009');
    const asked = world.cluster.requests.length;
    world.cluster.isNamespaceTerminating = true;
    await world.settle({ withinMs: 120_000 });
    assert.equal(world.cluster.list('events').length, before);
    // Such a namespace takes no Event either, so that none is there proves nothing: none is asked for.
    const told = world.cluster.requests.slice(asked).filter((text) => text.includes('-event '));
    assert.deepEqual(told, []);
    world.cluster.isNamespaceTerminating = false;
    await world.settle();
    assert.equal(world.placed.length, 4);
  });
});
