/**
 * Steps of machines that come and go: the node lifecycle as its writes come one by one, kubelets that shut down, labels
 * that flap.
 */
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { rawNode } from './objects.ts';
import type { StepContext } from './step-context.ts';
import { setReady } from './steps-of-nodes.ts';
import { write } from './steps-of-writers.ts';
import type { World } from './world.ts';

const SECOND_MS = 1000;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
/** The pod collector comes 60 s after a node is gone (controllers.ts): one is made again just before, or after. */
const REMADE_MS = [1000, 39_000, 59_000, 61_000, 75_000] as const;

/**
 * A machine is gone (other-writers 8): its node is Unknown, its pods are not ready, taints come in two writes; then it
 * comes back, or the node is deleted and made again under its name, before or after the pod collector came.
 */
export function loseNode(context: StepContext): boolean {
  const { world, dice, later } = context;
  const found = world.api.list('nodes');
  if (found.length < 2) return false;
  const { name, uid, labels = {} } = dice.pick(found).metadata;
  world.controllers.deadNodes.add(name);
  later(SECOND_MS, () => {
    changeNode(world, { name, uid }, { isReady: false, taints: [] });
    for (const pod of podsOn(world, name)) setReady(world, pod, false);
  });
  const taints = (...effects: readonly Taint['effect'][]): readonly Taint[] =>
    effects.map((effect) => ({ key: UNREACHABLE, effect }));
  for (const [at, given] of [
    [1.1, taints('NoSchedule')],
    [1.2, taints('NoSchedule', 'NoExecute')],
  ] as const) {
    later(at * SECOND_MS, () => {
      changeNode(world, { name, uid }, { isReady: false, taints: given });
    });
  }
  const backMs = dice.between(2000, 40_000);
  const revive = (): void => {
    world.controllers.deadNodes.delete(name);
    for (const pod of podsOn(world, name)) setReady(world, pod, true);
    world.controllers.lookAtEverything();
  };
  if (dice.chance(0.4)) {
    later(backMs, () => {
      changeNode(world, { name, uid }, { isReady: true, taints: taints('NoSchedule') });
      changeNode(world, { name, uid }, { isReady: true, taints: [] });
      revive();
    });
    return true;
  }
  later(backMs, () => {
    if (world.api.find('nodes', name)?.metadata.uid === uid) world.controllers.removeNode(name);
  });
  later(backMs + dice.pick(REMADE_MS), () => {
    if (world.api.find('nodes', name) === undefined) world.addNode(name, { labels });
    revive();
  });
  return true;
}

/** A machine shuts down: its kubelet fails each pod that it has, and each that it gets, for a while. */
export function shutDownNode(context: StepContext): boolean {
  const { world, dice } = context;
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return false;
  const { name } = dice.pick(nodes).metadata;
  world.controllers.failingNodes.add(name);
  for (const pod of podsOn(world, name)) world.controllers.setPhase(pod, 'Failed');
  context.later(dice.between(1000, 60_000), () => {
    world.controllers.failingNodes.delete(name);
  });
  return true;
}

/** A node's label comes and goes once a second, as feature discovery has been seen to do. */
export function flapLabels(context: StepContext): boolean {
  const { world, dice } = context;
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return false;
  const node = dice.pick(nodes);
  const { disk, ...others } = node.metadata.labels ?? {};
  const times = 2 * dice.between(2, 12);
  for (let time = 1; time <= times; time += 1) {
    const had = (time % 2 === 0) === (disk !== undefined);
    context.later(time * SECOND_MS, () => {
      write(
        world,
        { kind: 'nodes', object: node },
        { labels: had ? { ...others, disk: 'ssd' } : others },
      );
    });
  }
  return true;
}

function podsOn(world: World, node: string): readonly KubernetesObject[] {
  return world.api.list('pods').filter((pod) => nodeOf(pod) === node);
}

function changeNode(
  world: World,
  { name, uid }: { readonly name: string; readonly uid: string },
  changes: { readonly isReady: boolean; readonly taints: readonly Taint[] },
): void {
  const found = world.api.find('nodes', name);
  if (found?.metadata.uid !== uid) return;
  const { spec, status } = rawNode(name, changes);
  world.api.change('nodes', { namespace: '', name }, (object) => ({ ...object, spec, status }));
}
