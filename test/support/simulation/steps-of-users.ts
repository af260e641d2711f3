/** Steps of users and operators: DaemonSets, nodes' owners, and pods that are not ours. */
import type { JsonObject } from '@rollcall/base/json.ts';
import { nodeOf } from '../simulated-cluster.ts';
import type { Dice } from './dice.ts';
import { slotOn } from './look.ts';
import { rawPod } from './objects.ts';
import { editableSet, type StepContext } from './step-context.ts';
import type { World } from './world.ts';

const STRATEGIES: readonly JsonObject[] = [
  { type: 'OnDelete' },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%', maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' } },
];

export function drawSpec(dice: Dice): JsonObject {
  const minReadySeconds = dice.pick([0, 0, 0, 3, 20]);
  return {
    updateStrategy: dice.pick(STRATEGIES),
    revisionHistoryLimit: dice.pick([0, 1, 10]),
    ...(minReadySeconds === 0 ? {} : { minReadySeconds }),
  };
}

/** Another image, or one that was there before: a rolling update, or a rollback. */
export function roll({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  const image = `${name}:${dice.between(1, 3)}`;
  editPodSpec(world, name, { containers: [{ name: 'main', image }] });
  return true;
}

/** Another strategy, in the middle of whatever goes on. */
export function changeStrategy({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  const updateStrategy = dice.pick(STRATEGIES);
  world.api.editDaemonSet(name, (spec) => ({ ...spec, updateStrategy }));
  return true;
}

/** Makes a DaemonSet, moves it to other nodes, or deletes it in one of three ways. */
export function changeSet({ world, dice, sets }: StepContext): boolean {
  const name = dice.pick(sets);
  const found = world.api.find('daemonsets', name, 'ns');
  if (found === undefined) {
    const nodeSelector = drawSelector(dice);
    world.addDaemonSet(name, { nodeSelector, spec: drawSpec(dice) });
    return true;
  }
  if (found.metadata.deletionTimestamp !== undefined) return false;
  if (dice.chance(0.3)) {
    const propagation = dice.pick(['background', 'foreground', 'orphan'] as const);
    world.controllers.deleteDaemonSet(name, propagation);
    return true;
  }
  editPodSpec(world, name, { nodeSelector: drawSelector(dice) });
  return true;
}

/** Deletes a DaemonSet and makes another one of its name at once: another UID under the same key (row 38). */
export function remakeSet({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  world.controllers.deleteDaemonSet(name, 'background');
  world.addDaemonSet(name, { nodeSelector: drawSelector(dice), spec: drawSpec(dice) });
  return true;
}

/** Somebody else's pod stands under the name that a node's pod would get (row 41). */
export function takeName({ world, dice, nodes }: StepContext): boolean {
  const name = editableSet(world, dice);
  const node = dice.pick(nodes);
  if (name === undefined) return false;
  const slot = slotOn(world, name, node);
  const former = world.api.find('pods', slot, 'ns');
  if (former !== undefined) world.api.remove('pods', slot, 'ns');
  const owner = { kind: 'ReplicaSet', uid: `foreign-${world.clock.monotonicMs()}` };
  const options = { ...(dice.chance(0.5) ? { owner } : {}), phase: 'Running' };
  const taker = world.api.put('pods', rawPod({ name: slot, app: 'foreign', node }, options));
  world.clock.after(dice.between(1000, 60_000), () => {
    const found = world.api.find('pods', slot, 'ns');
    if (found?.metadata.uid === taker.metadata.uid) world.api.remove('pods', slot, 'ns');
  });
  return true;
}

/** A pod without an owner that a DaemonSet will adopt (row 85). */
export function makeOrphan({ world, dice, nodes, sets }: StepContext): boolean {
  const { api, clock } = world;
  const name = `orphan-${clock.monotonicMs()}`;
  const [app, node] = [dice.pick(sets), dice.pick(nodes)];
  // Beside a pod that is there already it would be a second one, made by its user.
  if (api.list('pods').some((pod) => nodeOf(pod) === node)) return false;
  api.put('pods', rawPod({ name, app, node }));
  return true;
}

function drawSelector(dice: Dice): Readonly<Record<string, string>> {
  return dice.chance(0.5) ? { disk: 'ssd' } : {};
}

export function editPodSpec(world: World, name: string, changes: JsonObject): void {
  world.api.editDaemonSet(name, (spec) => {
    const template = spec['template'] as JsonObject;
    const podSpec = { ...(template['spec'] as JsonObject), ...changes };
    return { ...spec, template: { ...template, spec: podSpec } };
  });
}
