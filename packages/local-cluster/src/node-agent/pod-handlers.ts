/**
 * What the sync loop does with configuration updates (spec node-agent 2, 3): additions go through admission in order of
 * creation, everything else goes to the pod's worker. DELETE, a graceful deletion, is an update.
 *
 * A rejected pod is Failed with the reason and never gets a worker; its deletion is passed on all the same, because the
 * API waits for it. A mirror pod is only how the API shows a static pod: what happens to it is told to the static one.
 * Nothing here waits: workers do the work, and housekeeping cleans up after pods that nobody knows any more.
 */
import { parseTime } from '../objects/timestamps.ts';
import { admitPod } from './node/admission.ts';
import type { AdmissionInput } from './node/admission.ts';
import { isMirrorPod, isTerminalPhase, podName, uidOf } from './shared/pod-object.ts';
import type { PodObject } from './shared/pod-object.ts';
import { qosClassOf } from './shared/pod-resources.ts';
import type { ScriptContext } from './pods/pod-syncer.ts';
import type { PodWorkers, SyncType } from './pods/pod-workers.ts';
import type { PodUpdate } from './sources/config.ts';

/** What the handlers need. */
export interface PodHandlersOptions {
  readonly context: ScriptContext;
  readonly workers: PodWorkers;
  /** The node and its state, for admission. */
  readonly nodeForAdmission: () => Omit<AdmissionInput, 'pod' | 'others'>;
  readonly requestHousekeeping: () => void;
}

/** Handles one update of the channel. */
export function handlePodUpdate(options: PodHandlersOptions, update: PodUpdate): void {
  switch (update.operation) {
    case 'ADD':
      for (const pod of byCreation(update.pods)) addPod(options, pod);
      return;
    case 'UPDATE':
    case 'DELETE':
      for (const pod of update.pods) updatePod(options, pod);
      return;
    case 'REMOVE':
      for (const pod of update.pods) removePod(options, pod);
      return;
    case 'RECONCILE':
      for (const pod of update.pods) reconcilePod(options, pod);
      return;
  }
}

/** Pods that hold resources: admitted, not ended, or still ending. */
export function activePods(context: ScriptContext, workers: PodWorkers): readonly PodObject[] {
  return context.pods.list().filter((pod) => {
    const state = workers.state(uidOf(pod));
    if (state === 'terminated' || state === 'finished') return false;
    const { phase } = context.statuses.get(uidOf(pod)) ?? pod.status ?? {};
    const hasEnded = isTerminalPhase(phase) || isTerminalPhase(pod.status?.phase);
    return !hasEnded || state === 'terminating';
  });
}

function byCreation(pods: readonly PodObject[]): readonly PodObject[] {
  if (pods.length < 2) return pods;
  const createdAt = (pod: PodObject): number => parseTime(pod.metadata.creationTimestamp) ?? 0;
  return [...pods].sort((left, right) => createdAt(left) - createdAt(right));
}

function addPod(options: PodHandlersOptions, pod: PodObject): void {
  const { context, workers } = options;
  context.pods.put(pod);
  if (isMirrorPod(pod)) {
    dispatchStatic(options, pod);
    return;
  }
  const uid = uidOf(pod);
  const state = workers.state(uid);
  const isEnding = state !== undefined && state !== 'syncing';
  if (!isEnding && !isTerminalPhase(pod.status?.phase)) {
    const others = activePods(context, workers).filter((other) => uidOf(other) !== uid);
    const admission = admitPod({ ...options.nodeForAdmission(), pod, others });
    context.log.debug('admission', {
      pod: podName(pod),
      verdict: admission.kind,
      ...(admission.kind === 'rejected' ? { reason: admission.reason } : {}),
    });
    if (admission.kind === 'rejected') {
      rejectPod(context, pod, admission);
      return;
    }
  }
  workers.update({ type: 'create', pod });
}

function rejectPod(
  context: ScriptContext,
  pod: PodObject,
  { reason, message }: { readonly reason: string; readonly message: string },
): void {
  context.record({ about: pod, type: 'Warning', reason, message });
  context.statuses.set(pod, {
    ...(pod.metadata.generation === undefined
      ? {}
      : { observedGeneration: pod.metadata.generation }),
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
  });
}

function updatePod(options: PodHandlersOptions, pod: PodObject): void {
  const { context, workers } = options;
  context.pods.put(pod);
  if (isMirrorPod(pod)) {
    dispatchStatic(options, pod);
    return;
  }
  if (workers.state(uidOf(pod)) === undefined) {
    // Rejected, or ended before this agent started: nothing to stop, but the API may wait for its deletion.
    if (pod.metadata.deletionTimestamp !== undefined) workers.update({ type: 'kill', pod });
    return;
  }
  if (workers.state(uidOf(pod)) === 'finished') context.statuses.reconcile(pod);
  else workers.update({ type: 'update', pod });
}

function removePod(options: PodHandlersOptions, pod: PodObject): void {
  const { context, workers } = options;
  context.pods.remove(pod);
  if (isMirrorPod(pod)) {
    dispatchStatic(options, pod);
    return;
  }
  if (workers.state(uidOf(pod)) !== undefined) workers.update({ type: 'kill', pod });
  options.requestHousekeeping();
}

function reconcilePod(options: PodHandlersOptions, pod: PodObject): void {
  const { context } = options;
  context.pods.put(pod);
  if (isMirrorPod(pod)) return;
  const hasGates = (pod.spec.readinessGates ?? []).length > 0;
  if (hasGates) dispatch(options, 'sync', pod);
  context.statuses.check(pod);
}

/** A change of a mirror is a change of its static pod's looks in the API. */
function dispatchStatic(options: PodHandlersOptions, mirror: PodObject): void {
  const pod = options.context.pods.staticPodOf(mirror);
  if (pod === undefined) {
    options.requestHousekeeping();
    return;
  }
  dispatch(options, 'update', pod);
  options.context.statuses.reconcile(pod);
}

function dispatch(options: PodHandlersOptions, type: SyncType, pod: PodObject): void {
  if (options.workers.state(uidOf(pod)) !== undefined) options.workers.update({ type, pod });
}
