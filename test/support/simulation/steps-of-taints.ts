/**
 * Taints that pods bear for some seconds only, and the manager of the node controller that evicts them then.
 *
 * A DaemonSet that tolerates a taint for seconds should run on the node all the same: each pod that is evicted is made
 * again, and evicted again, until the taint goes.
 */
import type { Toleration } from '@rollcall/base/objects.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { editableSet, type StepContext } from './step-context.ts';
import { editPodSpec } from './steps-of-users.ts';
import type { World } from './world.ts';

const SECOND_MS = 1000;
const KEY = 'simulation.example/maintenance';

/** A DaemonSet tolerates a taint for some seconds, and a node has it for longer. */
export function taintForSeconds({ world, decider, dice, later }: StepContext): boolean {
  const set = editableSet(world, dice);
  const nodes = world.api.list('nodes').map(({ metadata }) => metadata.name);
  if (set === undefined || nodes.length < 2) return false;
  const seconds = dice.between(3, 12);
  tolerateFor(world, set, seconds);
  const onEviction = (): void => {
    decider.note('taint-for-seconds');
  };
  const lastsSeconds = seconds * dice.between(2, 4);
  taintNode({ world, later, onEviction }, { node: dice.pick(nodes), seconds, lastsSeconds });
  return false;
}

/** A template that tolerates the taint for so many seconds. */
export function tolerateFor(world: World, set: string, seconds: number): void {
  const toleration = { key: KEY, operator: 'Exists', effect: 'NoExecute' };
  editPodSpec(world, set, { tolerations: [{ ...toleration, tolerationSeconds: seconds }] });
}

/** A node has the taint for a while. Who does not tolerate it is evicted within a second, the others after theirs. */
export function taintNode(
  on: Pick<StepContext, 'world' | 'later'> & { readonly onEviction: () => void },
  taint: { readonly node: string; readonly seconds: number; readonly lastsSeconds: number },
): void {
  const { world, later, onEviction } = on;
  const { node, seconds, lastsSeconds } = taint;
  setTaint(world, node, true);
  const seen = new Map<string, number>();
  for (let at = 1; at < lastsSeconds; at += 1) {
    later(at * SECOND_MS, () => {
      for (const pod of world.api.list('pods').filter((one) => nodeOf(one) === node)) {
        const { tolerations = [] } = pod['spec'] as { readonly tolerations?: Toleration[] };
        const isForSeconds = tolerations.some(({ key }) => key === KEY);
        const firstAt = seen.get(pod.metadata.uid) ?? at;
        seen.set(pod.metadata.uid, firstAt);
        if (isForSeconds && at - firstAt !== seconds) continue;
        world.controllers.deletePod(pod);
        if (isForSeconds) onEviction();
      }
    });
  }
  later(lastsSeconds * SECOND_MS, () => {
    setTaint(world, node, false);
  });
}

/** Puts the taint on a node that is there, or takes it off; others stay. */
function setTaint(world: World, name: string, isThere: boolean): void {
  if (world.api.find('nodes', name) === undefined) return;
  world.api.change('nodes', { namespace: '', name }, (object) => {
    const spec = (object['spec'] ?? {}) as { readonly taints?: readonly { key: string }[] };
    const others = (spec.taints ?? []).filter(({ key }) => key !== KEY);
    const taints = isThere ? [...others, { key: KEY, effect: 'NoExecute' }] : others;
    return { ...object, spec: { ...spec, taints } };
  });
}
