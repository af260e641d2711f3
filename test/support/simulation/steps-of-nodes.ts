/** Steps of nodes, kubelets and pods, and of the namespace that they live in. */
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { phaseOf } from './controllers.ts';
import { rawNode } from './objects.ts';
import type { StepContext } from './step-context.ts';
import type { World } from './world.ts';

/** Makes a node, or gives one other labels and taints. */
export function changeNode({ world, dice, nodes }: StepContext): boolean {
  const name = dice.pick(nodes);
  const taint = (effect: Taint['effect']): readonly Taint[] => [{ key: 'dedicated', effect }];
  const taints = dice.pick([[], [], taint('NoSchedule'), taint('NoExecute')]);
  const labels = dice.chance(0.5) ? { disk: 'ssd' } : {};
  world.api.put('nodes', rawNode(name, { labels, taints }));
  return true;
}

/** Takes a node away; its pods stay until the pod collector comes. */
export function removeNode({ world, dice }: StepContext): boolean {
  const nodes = world.api.list('nodes');
  if (nodes.length < 2) return false;
  world.controllers.removeNode(dice.pick(nodes).metadata.name);
  return true;
}

/** An autoscaler takes nodes away until a third is left, those without the newest pods first. */
export function scaleIn({ world, nodes }: StepContext): boolean {
  const newest = world.api.list('pods').toSorted((left, right) => bornAtMs(right) - bornAtMs(left));
  const kept = new Set(newest.slice(0, Math.ceil(nodes.length / 3)).map(nodeOf));
  const leaving = world.api.list('nodes').filter(({ metadata }) => !kept.has(metadata.name));
  for (const { metadata } of leaving) world.controllers.removeNode(metadata.name);
  return leaving.length > 0;
}

/** It makes all that are missing. */
export function scaleOut({ world, nodes }: StepContext): boolean {
  const missing = nodes.filter((name) => world.api.find('nodes', name) === undefined);
  for (const name of missing) world.api.put('nodes', rawNode(name));
  return missing.length > 0;
}

function bornAtMs({ metadata }: KubernetesObject): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

/** An autoscaler takes a pool to zero, within seconds; some minutes later it may come back. One pool stays. */
export function scalePool({ world, dice, later }: StepContext): boolean {
  const pools = Map.groupBy(world.api.list('nodes'), ({ metadata }) => metadata.labels?.['pool']);
  if (pools.size < 2) return false;
  const [, nodes] = dice.pick([...pools]);
  const backMs = dice.chance(0.5) ? dice.between(60_000, 900_000) : undefined;
  for (const { metadata } of nodes) {
    const { name, labels = {} } = metadata;
    later(dice.between(0, 5000), () => {
      world.controllers.removeNode(name);
    });
    if (backMs === undefined) continue;
    later(backMs, () => {
      if (world.api.find('nodes', name) === undefined)
        world.api.put('nodes', rawNode(name, { labels }));
    });
  }
  return true;
}

/** Another node under the same name, between two looks (row 39). */
export function remakeNode({ world, dice }: StepContext): boolean {
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return false;
  const { name, labels = {} } = dice.pick(nodes).metadata;
  world.controllers.removeNode(name);
  world.api.put('nodes', rawNode(name, { labels }));
  return true;
}

/** A pod is deleted by a user, vanishes, fails, or succeeds. */
export function endPod({ world, dice }: StepContext): boolean {
  const { controllers, api } = world;
  const pods = api.list('pods').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (pods.length === 0) return false;
  const pod = dice.pick(pods);
  const draw = dice.draw();
  if (draw < 0.4) controllers.deletePod(pod);
  else if (draw < 0.6) api.remove('pods', pod.metadata.name, pod.metadata.namespace);
  else controllers.setPhase(pod, draw < 0.8 ? 'Failed' : 'Succeeded');
  return true;
}

/** Running pods that lose their readiness for a while (row 49). */
export function unreadyPods({ world, dice }: StepContext): boolean {
  const running = world.api.list('pods').filter((pod) => phaseOf(pod) === 'Running');
  const chosen = running.filter(() => dice.chance(0.4));
  for (const pod of chosen) setReady(world, pod, false);
  world.clock.after(dice.between(500, 40_000), () => {
    for (const pod of chosen) setReady(world, pod, true);
  });
  return chosen.length > 0;
}

/** Every running pod is ready again. */
export function readyAllPods(world: World): void {
  for (const pod of world.api.list('pods')) setReady(world, pod, true);
}

/** A kubelet that does nothing for a while (row 48). */
export function stopKubelet({ world, dice, nodes }: StepContext): boolean {
  const { controllers, clock } = world;
  const node = dice.pick(nodes);
  controllers.deadNodes.add(node);
  clock.after(dice.between(1000, 60_000), () => {
    controllers.deadNodes.delete(node);
    controllers.lookAtEverything();
  });
  return true;
}

/** Creates are refused because the namespace is going away, which then somebody undoes (row 57). */
export function closeNamespace({ world, dice }: StepContext): boolean {
  world.api.isNamespaceTerminating = true;
  world.clock.after(dice.between(500, 20_000), () => {
    world.api.isNamespaceTerminating = false;
  });
  return true;
}

/** A running pod becomes ready, or is so no longer. */
export function setReady(world: World, pod: KubernetesObject, isReady: boolean): void {
  const { name, namespace = '' } = pod.metadata;
  const found = world.api.find('pods', name, namespace);
  if (found === undefined || found.metadata.uid !== pod.metadata.uid) return;
  if (phaseOf(found) !== 'Running' || isReadyNow(found) === isReady) return;
  const nowMs = world.controllers.kubeletNowMs(nodeOf(found) ?? '');
  const lastTransitionTime = new Date(nowMs).toISOString();
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime };
  world.api.change('pods', { namespace, name }, (object) => ({
    ...object,
    status: { phase: 'Running', conditions: [ready] },
  }));
}

function isReadyNow(pod: KubernetesObject): boolean {
  const status = pod['status'] as
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
    | undefined;
  return (
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  );
}
