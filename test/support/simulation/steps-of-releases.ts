/** Steps of who releases new images under a policy: good ones, ill ones, edits undone, ways back, pauses, nodes that are not Ready for a while. */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { ailmentOf, type Ailment } from './ailments.ts';
import { setImage } from './look.ts';
import { order } from './operator.ts';
import { placementOf } from './oracle.ts';
import { editableSet, type StepContext } from './step-context.ts';
import { setReady } from './steps-of-nodes.ts';
import { templateOf } from './staged-pods.ts';
import type { World } from './world.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const PAUSED = '\npaused: true';
/** Those that a canary shows within its soak. */
const ILL: readonly Ailment[] = ['bad-image', 'config-error', 'start-error', 'crash-loop', 'flap'];

/** An image that was never there; now and then the one before again, in the middle of it. */
export function release(context: StepContext): boolean {
  return rollOut(context, String(context.world.clock.monotonicMs()));
}

/** The same, of an image that does not get well. */
export function releaseIll(context: StepContext): boolean {
  const { world, dice } = context;
  return rollOut(context, `${String(world.clock.monotonicMs())}-simulate-${dice.pick(ILL)}`);
}

function rollOut({ world, dice, later }: StepContext, tag: string): boolean {
  const name = editableSet(world, dice);
  const found = name === undefined ? undefined : world.api.find('daemonsets', name, 'ns');
  if (name === undefined || found === undefined) return false;
  const former = tagOf(found);
  setImage(world, name, tag);
  if (!dice.chance(0.3)) return true;
  later(dice.pick([200, 5 * SECOND_MS, MINUTE_MS, 4 * MINUTE_MS]), () => {
    const now = world.api.find('daemonsets', name, 'ns');
    if (now !== undefined && tagOf(now) === tag) setImage(world, name, former);
  });
  return true;
}

/** Images of DaemonSets that cannot get well are made good; ill pods that a taint keeps, and no rollout replaces, go. */
export function healImages(world: World): void {
  for (const set of world.api.list('daemonsets')) {
    const isIll = tagOf(set).includes('-simulate-');
    if (isIll) setImage(world, set.metadata.name, `${world.clock.monotonicMs()}-well`);
    for (const pod of world.api.list('pods')) {
      const node = world.api.find('nodes', nodeOf(pod) ?? '');
      const isKept = node !== undefined && placementOf(set, node) !== 'run';
      if (isKept && ailmentOf(pod) !== undefined) world.controllers.deletePod(pod);
    }
  }
}

/** Git is reverted: the template is what it was before; done twice it is the newer one again. */
export function revertRelease({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  return name !== undefined && revert(world, name);
}

/** An operator goes back at once; Git is reverted soon after, while nodes are on their way. */
export function undoRollout({ world, dice, later }: StepContext): boolean {
  const name = editableSet(world, dice);
  const set = name === undefined ? undefined : world.api.find('daemonsets', name, 'ns');
  if (name === undefined || set === undefined) return false;
  void order(world, name, 'undo').then((isGiven) => {
    if (isGiven) world.site.stages.noteUndone(set);
  });
  later(dice.pick([200, 5 * SECOND_MS, MINUTE_MS]), () => {
    revert(world, name);
  });
  return true;
}

function revert(world: World, name: string): boolean {
  const set = world.api.find('daemonsets', name, 'ns');
  const before = set && world.site.stages.before(set);
  if (before === undefined) return false;
  setImage(world, name, before.slice(before.indexOf(':') + 1));
  return true;
}

function tagOf(set: KubernetesObject): string {
  const image = templateOf(set);
  return image.slice(image.indexOf(':') + 1);
}

/** An operator pauses a rollout by an order, or in the annotation, and takes it up again some minutes later. */
export function pauseRollout({ world, dice, later }: StepContext): boolean {
  const name = editableSet(world, dice);
  const found = name === undefined ? undefined : world.api.find('daemonsets', name, 'ns');
  if (name === undefined || found?.metadata.annotations?.[POLICY_ANNOTATION] === undefined) {
    return false;
  }
  const forMs = dice.between(2 * MINUTE_MS, 12 * MINUTE_MS);
  if (dice.chance(0.5)) {
    setPaused(world, name, true);
    later(forMs, () => {
      setPaused(world, name, false);
    });
    return true;
  }
  const { uid } = found.metadata;
  void order(world, name, 'pause').then((isGiven) => {
    if (isGiven) world.site.stages.halts.notePause(uid);
  });
  later(forMs, () => {
    world.site.noteResume(uid);
    void order(world, name, 'resume');
  });
  return true;
}

export function approveRollout({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  void order(world, name, 'approve');
  return true;
}

function setPaused(world: World, name: string, isPaused: boolean): void {
  const object = world.api.find('daemonsets', name, 'ns');
  const { annotations = {}, deletionTimestamp } = object?.metadata ?? {};
  const text = annotations[POLICY_ANNOTATION]?.replace(PAUSED, '');
  if (object === undefined || text === undefined || deletionTimestamp !== undefined) return;
  const policy = isPaused ? text + PAUSED : text;
  world.api.change('daemonsets', { namespace: 'ns', name }, (set) => ({
    ...set,
    metadata: { ...set.metadata, annotations: { ...annotations, [POLICY_ANNOTATION]: policy } },
  }));
}

/** A node is not Ready for seconds or minutes, and so are its pods, as the node controller writes; nobody taints it. */
export function unreadyNode({ world, dice, later }: StepContext): boolean {
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return false;
  const { name, uid } = dice.pick(nodes).metadata;
  setNodeReady(world, { name, uid }, false);
  later(dice.between(5 * SECOND_MS, 8 * MINUTE_MS), () => {
    setNodeReady(world, { name, uid }, true);
  });
  return true;
}

/** The flaky node, the first by its name, is not Ready for less than a minute. */
export function flapNode({ world, dice, later }: StepContext): boolean {
  const [first] = world.api
    .list('nodes')
    .map(({ metadata }) => metadata)
    .sort((left, right) => compareText(left.name, right.name));
  if (first === undefined) return false;
  setNodeReady(world, first, false);
  later(dice.between(5 * SECOND_MS, 45 * SECOND_MS), () => {
    setNodeReady(world, first, true);
  });
  return true;
}

function setNodeReady(
  world: World,
  { name, uid }: { readonly name: string; readonly uid: string },
  isReady: boolean,
): void {
  if (world.api.find('nodes', name)?.metadata.uid !== uid) return;
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  // In this order the node is the last to be heard of once all is well again.
  for (const pod of world.api.list('pods')) if (nodeOf(pod) === name) setReady(world, pod, isReady);
  world.api.change('nodes', { namespace: '', name }, (node) => ({
    ...node,
    status: { conditions },
  }));
}
