/**
 * Steps of others who end, move or make pods: evictions and their late deletes by name, replaced and restored pods,
 * labels that users overwrite, and DaemonSets deleted without their pods.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { controllerUid } from '../simulated-objects.ts';
import { phaseOf } from './controllers.ts';
import { rawPod } from './objects.ts';
import { editableSet, type StepContext } from './step-context.ts';
import { drawSpec } from './steps-of-users.ts';
import { write } from './steps-of-writers.ts';
import type { World } from './world.ts';

const HASH_LABEL = 'controller-revision-hash';
const LATE_MS_MAX = 300_000;

/**
 * An eviction, as its events come (other-writers 8): a condition, a deletionTimestamp, a terminal phase, the end. Who
 * evicts by name tries again later, and so do taint eviction, drain and pod GC: whoever bears the name then is hit.
 */
export function evictPod(context: StepContext): boolean {
  const { world, dice } = context;
  const pods = standing(world);
  if (pods.length === 0) return false;
  const pod = dice.pick(pods);
  const { name, namespace = '' } = pod.metadata;
  world.api.change('pods', { namespace, name }, (object) => ({
    ...object,
    status: disrupted(object['status'] as JsonObject | undefined),
  }));
  world.controllers.deletePod(pod);
  context.later(200, () => {
    const found = world.api.find('pods', name, namespace);
    if (found?.metadata.uid === pod.metadata.uid) world.controllers.setPhase(found, 'Failed');
  });
  if (dice.chance(0.5)) return true;
  context.later(dice.between(500, LATE_MS_MAX), () => {
    const found = world.api.find('pods', name, namespace);
    if (found !== undefined) world.controllers.deletePod(found);
  });
  return true;
}

/** A user replaces a pod by force: the same name and content under another UID. */
export function replacePod({ world, dice }: StepContext): boolean {
  const pods = standing(world);
  if (pods.length === 0) return false;
  const { metadata, ...rest } = dice.pick(pods);
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...kept } = metadata;
  world.api.remove('pods', metadata.name, metadata.namespace);
  const again = world.api.put('pods', { ...rest, metadata: kept, status: { phase: 'Pending' } });
  world.observer.usersPods.add(again.metadata.uid);
  return true;
}

/** A user overwrites labels of pods: the hash is gone, or the pod is no longer one that its DaemonSet selects. */
export function relabelPods({ world, dice }: StepContext): boolean {
  const pods = standing(world).filter((pod) => controllerUid(pod) !== undefined);
  const chosen = pods.filter(() => dice.chance(0.3));
  for (const pod of chosen) {
    const { [HASH_LABEL]: hash = '', ...others } = pod.metadata.labels ?? {};
    const taken = { ...others, [HASH_LABEL]: hash, app: 'foreign' };
    write(world, { kind: 'pods', object: pod }, { labels: dice.chance(0.7) ? others : taken });
  }
  return chosen.length > 0;
}

/** A restore makes pods without owners, some aimed at nodes that are gone (row 85). */
export function restorePods({ world, dice, nodes, sets }: StepContext): boolean {
  const app = dice.pick(sets);
  const taken = new Set(world.api.list('pods').map((pod) => JSON.stringify(pod['spec'])));
  // Beside a pod that is there already it would be a second one, made by its user.
  const free = nodes.filter((node) => ![...taken].some((text) => text.includes(`"${node}"`)));
  for (const node of free) {
    const name = `restored-${node}-${world.clock.monotonicMs()}`;
    const { spec: bound, ...rest } = rawPod({ name, app, node });
    const { nodeName: _bound, ...others } = bound as JsonObject;
    const labels = { app, [HASH_LABEL]: 'restored' };
    const metadata = { name, namespace: 'ns', labels };
    const spec = { ...others, affinity: aimedAt(node) };
    const restored = world.api.put('pods', { ...rest, metadata, spec });
    world.observer.usersPods.add(restored.metadata.uid);
  }
  return free.length > 0;
}

/** A DaemonSet is deleted without its pods, which are released one by one; then it is made again. */
export function orphanSet(context: StepContext): boolean {
  const { world, dice } = context;
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  world.controllers.orphanPaceMs = dice.pick([0, 20, 700]);
  world.controllers.deleteDaemonSet(name, 'orphan');
  context.later(dice.between(0, 8000), () => {
    if (world.api.find('daemonsets', name, 'ns') !== undefined) return;
    world.addDaemonSet(name, { spec: drawSpec(dice) });
  });
  return true;
}

function standing(world: World): readonly KubernetesObject[] {
  const isEnding = ({ metadata }: KubernetesObject): boolean =>
    metadata.deletionTimestamp !== undefined;
  return world.api.list('pods').filter((pod) => !isEnding(pod) && phaseOf(pod) !== 'Failed');
}

function disrupted(status: JsonObject = {}): JsonObject {
  const former = (status['conditions'] ?? []) as readonly JsonObject[];
  const target = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
  return { ...status, conditions: [...former, target] };
}

function aimedAt(node: string): JsonObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}
