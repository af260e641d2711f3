/**
 * Is a cluster at rest, as far as one can see from outside? What is still under way by its own nature
 * (a pod that is being bound, a finished pod that waits for its back-off, minReadySeconds) is named. Pure.
 *
 * Rest is a reason to compare early. A cluster that never rests is compared too, at the deadline.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readDaemonSet, readNode, readPod } from '../conformance/control-plane/observed-records.ts';
import { controllerOf } from './find-pods.ts';
import type { Mirror } from './mirror.ts';
import type { Place } from './place.ts';

const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';
/** The original looks a second after minReadySeconds have passed; timestamps are whole seconds. */
const MIN_READY_SLACK_MS = 2500;
/** Nobody waits for more: a set that asks for it has no available pods in its scenario. */
const MIN_READY_WAITED_SECONDS = 60;

/** What is still under way; empty at rest. */
export function findUnrest(mirror: Mirror, place: Place): readonly string[] {
  const { pods, nodes, daemonSets } = mirror.at(place);
  const unrest: string[] = [];
  for (const node of nodes) {
    const { name, isReady, taintKeys } = readNode(node);
    if (isReady === taintKeys.includes(NOT_READY_TAINT)) unrest.push(`${name}: taints follow`);
  }
  const nodeNames = new Set(nodes.map((it) => it.metadata.name));
  const alive = new Map(daemonSets.map((it) => [it.metadata.uid, it]));
  for (const daemonSet of daemonSets) {
    const { generation, observedGeneration } = readDaemonSet(daemonSet);
    const isDeleting = daemonSet.metadata.deletionTimestamp !== undefined;
    if (!isDeleting && observedGeneration < generation) unrest.push('a generation is not observed');
  }
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const reason = podUnrest(pod, {
      nodeNames,
      owner: alive.get(owner?.uid),
      isOwned: owner !== undefined,
    });
    if (reason !== undefined) unrest.push(`${pod.metadata.name}: ${reason}`);
  }
  return unrest;
}

/**
 * True while a DaemonSet has fewer pods than nodes: both clusters may be in the same back-off, after admission
 * has let go of them, and agree on nothing but having waited.
 */
export function lacksPods(mirror: Mirror, place: Place): boolean {
  return mirror.at(place).daemonSets.some((daemonSet) => {
    const { desiredNumberScheduled = 0, currentNumberScheduled = 0 } =
      readDaemonSet(daemonSet).status;
    const isDeleting = daemonSet.metadata.deletionTimestamp !== undefined;
    return !isDeleting && currentNumberScheduled < desiredNumberScheduled;
  });
}

function podUnrest(
  pod: KubernetesObject,
  context: {
    readonly nodeNames: ReadonlySet<string>;
    readonly owner: KubernetesObject | undefined;
    readonly isOwned: boolean;
  },
): string | undefined {
  const { node, isDeleting, isTerminal, phase, isReady } = readPod(pod);
  if (node !== undefined && !context.nodeNames.has(node)) return undefined;
  if (isDeleting) return isHeld(pod) ? undefined : 'is being deleted';
  if (context.isOwned && context.owner === undefined) return 'its DaemonSet is gone';
  if (context.owner === undefined) return undefined;
  // Their garbage is collected one by one; nothing else happens to them.
  if (context.owner.metadata.deletionTimestamp !== undefined) return undefined;
  if (isTerminal) return 'has ended';
  if (phase === 'Pending') return 'is pending';
  return isReady ? readinessUnrest(pod, context.owner) : undefined;
}

function isHeld({ metadata }: KubernetesObject): boolean {
  const isStuck = metadata.annotations?.['rollcall.test/stuck-terminating'] === 'true';
  return isStuck || (metadata.finalizers ?? []).length > 0;
}

/** True where a pod would have to be ready for longer than anybody waits. */
export function isWithoutAvailability(daemonSet: KubernetesObject): boolean {
  return minReadySecondsOf(daemonSet) > MIN_READY_WAITED_SECONDS;
}

function minReadySecondsOf(daemonSet: KubernetesObject): number {
  const { minReadySeconds = 0 } = daemonSet['spec'] as { readonly minReadySeconds?: number };
  return minReadySeconds;
}

function readinessUnrest(pod: KubernetesObject, daemonSet: KubernetesObject): string | undefined {
  const minReadySeconds = minReadySecondsOf(daemonSet);
  if (minReadySeconds === 0 || isWithoutAvailability(daemonSet)) return undefined;
  const status = pod['status'] as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly lastTransitionTime?: string;
    }[];
  };
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const sinceMs = Date.parse(ready?.lastTransitionTime ?? '');
  const isRecent = Date.now() < sinceMs + minReadySeconds * 1000 + MIN_READY_SLACK_MS;
  return isRecent ? 'is not ready for long enough' : undefined;
}
