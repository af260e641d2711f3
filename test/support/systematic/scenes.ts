/** The scenes over which faults are enumerated. */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { imageOf, podOn, podsOf, setImage } from '../simulation/look.ts';
import { rawNode } from '../simulation/objects.ts';
import type { World } from '../simulation/world.ts';
import type { Scene } from './scene.ts';

const THREE = ['n1', 'n2', 'n3'];

const unavailable: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
};
const surge: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  minReadySeconds: 5,
};

const makeSet =
  (spec: JsonObject) =>
  (world: World): void => {
    world.addDaemonSet('agent', { spec });
  };

const makeAgain = (world: World): void => {
  world.controllers.deleteDaemonSet('agent', 'background');
  world.addDaemonSet('agent', { spec: unavailable });
};

const taint = (world: World, node: string): void => {
  world.api.put('nodes', rawNode(node, { taints: [{ key: 'gone', effect: 'NoExecute' }] }));
};

/** Waits for what a user waits for; fails after ten minutes. */
function waitFor(world: World, isReached: () => boolean): Promise<void> {
  return world.clock.advanceUntil(isReached, { withinMs: 10 * 60_000 });
}

const scenes: Readonly<Record<string, Omit<Scene, 'name'>>> = {
  fresh: {
    nodes: THREE,
    prepare: () => undefined,
    act: makeSet(unavailable),
    overtake: makeAgain,
    keepsCounts: true,
  },
  failed: {
    nodes: THREE,
    prepare: makeSet(unavailable),
    act: (world) => world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Failed'),
    overtake: (world) => {
      world.controllers.deletePod(podOn(world, 'agent', 'n2'));
      taint(world, 'n2');
    },
    keepsCounts: true,
  },
  'node-gone': {
    nodes: [...THREE, 'n4'],
    prepare: makeSet(unavailable),
    act: (world) => world.controllers.removeNode('n2'),
    overtake: (world) => {
      world.addNode('n2');
    },
    keepsCounts: true,
  },
  tainted: {
    nodes: [...THREE, 'n4'],
    prepare: makeSet(unavailable),
    act: (world) => {
      taint(world, 'n2');
    },
    overtake: (world) => {
      world.addNode('n2');
      taint(world, 'n3');
    },
    keepsCounts: true,
  },
  roll: {
    nodes: THREE,
    prepare: makeSet(unavailable),
    act: (world) => {
      setImage(world, 'agent', 2);
    },
    overtake: (world) => {
      setImage(world, 'agent', 1);
    },
    keepsCounts: true,
  },
  surge: {
    nodes: THREE,
    prepare: makeSet(surge),
    act: (world) => {
      setImage(world, 'agent', 2);
    },
    overtake: (world) => {
      world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...unavailable }));
      setImage(world, 'agent', 3);
    },
    keepsCounts: true,
  },
  'made-again': {
    nodes: THREE,
    prepare: makeSet(unavailable),
    act: makeAgain,
    overtake: makeAgain,
    keepsCounts: true,
  },
  adopted: {
    nodes: THREE,
    prepare: makeSet(unavailable),
    act: async (world) => {
      world.controllers.deleteDaemonSet('agent', 'orphan');
      await waitFor(world, () => world.api.find('daemonsets', 'agent', 'ns') === undefined);
      world.addDaemonSet('agent', { spec: unavailable });
    },
    overtake: makeAgain,
    keepsCounts: true,
  },
  undone: {
    nodes: [...THREE, 'n4'],
    prepare: makeSet(unavailable),
    act: async (world) => {
      setImage(world, 'agent', 2);
      await waitFor(
        world,
        () => imagesOf(world).filter((image) => image.endsWith(':2')).length > 1,
      );
      setImage(world, 'agent', 1);
    },
    overtake: (world) => {
      setImage(world, 'agent', 2);
    },
    // How far the rollout got when the user has had enough depends on what was slow.
    keepsCounts: false,
  },
};

/** Every scene. */
export const SCENES: readonly Scene[] = Object.entries(scenes).map(([name, scene]) => ({
  name,
  ...scene,
}));

/** The scene of this name. */
export function sceneNamed(name: string): Scene {
  const found = SCENES.find((scene) => scene.name === name);
  assert.ok(found !== undefined, `no scene ${name}`);
  return found;
}

function imagesOf(world: World): readonly string[] {
  return podsOf(world, 'agent').map(imageOf);
}
