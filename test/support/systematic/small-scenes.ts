/** Small scenes: two or three nodes, two runs of one key, and `ingest` with a message of its own. */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { podOn, setImage } from '../simulation/look.ts';
import { rawNode } from '../simulation/objects.ts';
import type { World } from '../simulation/world.ts';
import type { ActorPlan } from './actor.ts';
import type { SmallScene } from './small-world.ts';

const TWO = ['n1', 'n2'];

const unavailable: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
};
const surge: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
};

const run = (letter: string): ActorPlan => ({
  letter,
  invoke: (world) => world.reconcileNow('agent'),
});

/** Takes what waits in events.fifo, as its mapping would. */
const ingest: ActorPlan = {
  letter: 'I',
  invoke: (world) => {
    const { queue } = world.queues.named('events.fifo');
    const deliveries = queue.receive({ countMax: 10 }, world.clock.nowMs());
    assert.ok(deliveries.length > 0, 'no message waits');
    return world.host.ingest(deliveries);
  },
};

const TWO_RUNS = [run('A'), run('B')];

/** The DaemonSet stands and is settled; from now on no hint reaches `reconcile`. */
const settled =
  (spec: JsonObject) =>
  async (world: World): Promise<void> => {
    world.addDaemonSet('agent', { spec });
    await world.converge();
    world.mapping('reconcile.fifo').isPaused = true;
    world.mapping('delay').isPaused = true;
  };

/** … and what happens then is in the view. */
const seen =
  (spec: JsonObject, happen: (world: World) => void) =>
  async (world: World): Promise<void> => {
    await settled(spec)(world);
    happen(world);
    await world.advance(600);
  };

const fail = (world: World): void => {
  world.controllers.setPhase(podOn(world, 'agent', 'n1'), 'Failed');
};
const roll = (world: World): void => {
  setImage(world, 'agent', 2);
};
const makeAgain = (world: World): void => {
  world.controllers.deleteDaemonSet('agent', 'background');
  world.addDaemonSet('agent', { spec: unavailable });
};
const fresh = async (world: World): Promise<void> => {
  world.mapping('reconcile.fifo').isPaused = true;
  world.addDaemonSet('agent', { spec: unavailable });
  await world.advance(600);
};

const scenes: Readonly<Record<string, Omit<SmallScene, 'name'>>> = {
  fresh: { nodes: TWO, prepare: fresh, actors: TWO_RUNS },
  failed: { nodes: TWO, prepare: seen(unavailable, fail), actors: TWO_RUNS },
  roll: { nodes: [...TWO, 'n3'], prepare: seen(unavailable, roll), actors: TWO_RUNS },
  surge: { nodes: TWO, prepare: seen(surge, roll), actors: TWO_RUNS },
  'fresh-ingest': {
    nodes: TWO,
    prepare: fresh,
    unseen: (world) => {
      world.addNode('n3');
    },
    actors: [run('A'), ingest],
  },
  'roll-ingest': {
    nodes: [...TWO, 'n3'],
    prepare: seen(unavailable, roll),
    unseen: (world) => {
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Failed');
    },
    actors: [run('A'), ingest],
  },
  'tainted-ingest': {
    nodes: TWO,
    prepare: seen(unavailable, fail),
    unseen: (world) => {
      world.api.put('nodes', rawNode('n1', { taints: [{ key: 'gone', effect: 'NoExecute' }] }));
    },
    actors: [run('A'), ingest],
  },
  'made-again-ingest': {
    nodes: TWO,
    prepare: seen(unavailable, fail),
    unseen: makeAgain,
    actors: [run('A'), ingest],
  },
  'failed-ingest-three': {
    nodes: TWO,
    prepare: seen(unavailable, fail),
    unseen: (world) => {
      world.addNode('n3');
    },
    actors: [...TWO_RUNS, ingest],
  },
};

/** Every small scene. */
export const SMALL_SCENES: readonly SmallScene[] = Object.entries(scenes).map(([name, scene]) => ({
  name,
  ...scene,
}));

/** The small scene of this name. */
export function smallSceneNamed(name: string): SmallScene {
  const found = SMALL_SCENES.find((scene) => scene.name === name);
  assert.ok(found !== undefined, `no small scene ${name}`);
  return found;
}
