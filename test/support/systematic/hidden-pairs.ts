/**
 * Changes and what takes them back: pairs whose first half nobody is to see (faults row 4).
 *
 * Where nothing is left of a pair, no pod may be touched for it: what was never seen never happened.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { podOn, setImage } from '../simulation/look.ts';
import { rawDaemonSet, rawNode } from '../simulation/objects.ts';
import type { World } from '../simulation/world.ts';

export interface HiddenPair {
  readonly name: string;
  readonly change: (world: World) => void;
  readonly takeBack: (world: World) => void;
  /** Pods that are made and that end because of it, by whomever. */
  readonly made: number;
  readonly ended: number;
}

const ROLLING: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
};

/** The DaemonSet of all pairs; its nodes are labelled disk=ssd. */
export const HIDDEN_SET = { nodeSelector: { disk: 'ssd' }, spec: ROLLING };
const LABELS = { disk: 'ssd' };

const plainNode = (world: World, name: string): void => {
  world.addNode(name, { labels: LABELS });
};

const tainted = (
  effect: Taint['effect'],
): Pick<HiddenPair, 'change' | 'takeBack' | 'made' | 'ended'> => ({
  change: (world) => {
    world.api.put('nodes', rawNode('n2', { labels: LABELS, taints: [{ key: 'gone', effect }] }));
  },
  takeBack: (world) => {
    plainNode(world, 'n2');
  },
  made: 0,
  ended: 0,
});

/** The same pod under the same name, made by somebody else: another UID. */
function remakePod(world: World, pod: KubernetesObject): void {
  const { name, namespace, labels, ownerReferences } = pod.metadata;
  const metadata = { name, namespace, labels, ownerReferences };
  world.api.put('pods', { ...pod, metadata });
}

const pairs: Readonly<Record<string, Omit<HiddenPair, 'name'>>> = {
  'taint-NoExecute': tainted('NoExecute'),
  'taint-NoSchedule': tainted('NoSchedule'),
  label: {
    change: (world) => {
      world.addNode('n2');
    },
    takeBack: (world) => {
      plainNode(world, 'n2');
    },
    made: 0,
    ended: 0,
  },
  'node-removed': {
    change: (world) => {
      world.controllers.removeNode('n2');
    },
    takeBack: (world) => {
      plainNode(world, 'n2');
    },
    made: 0,
    ended: 0,
  },
  'node-added': {
    change: (world) => {
      plainNode(world, 'n9');
    },
    takeBack: (world) => {
      world.controllers.removeNode('n9');
    },
    made: 0,
    ended: 0,
  },
  'pod-failed': {
    change: (world) => {
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Failed');
    },
    takeBack: (world) => {
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Running');
    },
    made: 0,
    ended: 0,
  },
  'pod-made-again': {
    change: (world) => {
      const pod = podOn(world, 'agent', 'n2');
      world.api.remove('pods', pod.metadata.name, 'ns');
      remakePod(world, pod);
    },
    takeBack: () => undefined,
    made: 1,
    ended: 1,
  },
  image: {
    change: (world) => {
      setImage(world, 'agent', 2);
    },
    takeBack: (world) => {
      setImage(world, 'agent', 1);
    },
    made: 0,
    ended: 0,
  },
  'set-made-again': {
    change: (world) => {
      world.controllers.deleteDaemonSet('agent', 'background');
    },
    takeBack: (world) => {
      world.addDaemonSet('agent', HIDDEN_SET);
    },
    made: 3,
    ended: 3,
  },
  'set-orphaning': {
    change: (world) => {
      world.controllers.deleteDaemonSet('agent', 'orphan');
    },
    takeBack: (world) => {
      world.addDaemonSet('agent', HIDDEN_SET);
    },
    made: 0,
    ended: 0,
  },
  'set-added': {
    change: (world) => {
      world.api.createDaemonSet(rawDaemonSet('proxy', HIDDEN_SET));
    },
    takeBack: (world) => {
      world.controllers.deleteDaemonSet('proxy', 'background');
    },
    made: 0,
    ended: 0,
  },
};

/** Every pair. */
export const HIDDEN_PAIRS: readonly HiddenPair[] = Object.entries(pairs).map(([name, pair]) => ({
  name,
  ...pair,
}));

/** Nodes of every pair's cluster. */
export const HIDDEN_NODES = ['n1', 'n2', 'n3'];
