/**
 * The script for one pod, from status to the runtime's SyncPod (spec node-agent 4c to 4i), in this order: status → status
 * manager, network, cgroup, mirror, directory, volumes, pull secrets, environment, runtime.
 *
 * Each stage either lets the next one run or says when to come back. The pod's worker calls, one call at a time.
 */
import { activeDeadlineAtMs } from './active-deadline.ts';
import { findConfigErrors } from '../shared/config-references.ts';
import { ensureMirrorPod } from './mirror-pods.ts';
import { isStaticPod, isTerminalPhase, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodSyncResult, RuntimePodStatus } from '../shared/pod-runtime.ts';
import { computeStatus } from './pod-syncer.ts';
import type { ScriptContext } from './pod-syncer.ts';
import type { PodWork, SyncOutcome } from './pod-workers.ts';
import { readPullSecrets } from './pull-secrets.ts';

/** How soon a pod is tried again that waits for the network (kubelet: backOffOnTransientErrorPeriod). */
const NETWORK_RETRY_MS = 1000;
const NO_ERRORS: ReadonlyMap<string, string> = new Map();

/** Runs the script once. */
export async function syncPod(
  context: ScriptContext,
  work: PodWork,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const { pod } = work;
  const uid = uidOf(pod);
  context.log.debug('syncPod', { pod: podName(pod), updateType: work.type });
  const status = computeStatus(context, pod, false);
  context.statuses.set(pod, status);
  if (isTerminalPhase(status.phase)) return { kind: 'terminal' };

  const networkError = context.networkError();
  if (networkError !== undefined && pod.spec.hostNetwork !== true) {
    context.record({
      about: pod,
      type: 'Warning',
      reason: 'NetworkNotReady',
      message: `network is not ready: ${networkError}`,
    });
    return { kind: 'retry', why: 'network is not ready', afterMs: NETWORK_RETRY_MS };
  }
  const cgroupParent = context.cgroups.ensure(pod);
  if (isStaticPod(pod)) await ensureMirrorPod(context, pod, context.pods.mirrorOf(pod));
  context.directories.make(uid);

  context.log.debug('waiting for volumes', { pod: podName(pod) });
  const volumes = await context.volumes.waitForMount(pod, signal);
  if (volumes.kind === 'aborted') return { kind: 'retry', why: 'the pod is to end', afterMs: 0 };
  if (volumes.kind === 'timeout') return { kind: 'retry', why: volumes.message };
  context.log.debug('volumes mounted', { pod: podName(pod) });

  await readPullSecrets(context, pod);
  return await syncRuntime(context, { pod, cgroupParent, signal });
}

async function syncRuntime(
  context: ScriptContext,
  input: { readonly pod: PodObject; readonly cgroupParent: string; readonly signal: AbortSignal },
): Promise<SyncOutcome> {
  const { pod, cgroupParent, signal } = input;
  const uid = uidOf(pod);
  const before = context.podRuntime.status(uid);
  const configErrors = areAllRunning(pod, before)
    ? NO_ERRORS
    : await findConfigErrors(context.client, pod);
  if (signal.aborted) return { kind: 'retry', why: 'the pod is to end', afterMs: 0 };
  context.probes.update(pod, before);
  context.log.debug('runtime sync', { pod: podName(pod) });
  const result = await context.podRuntime.syncPod({
    pod,
    cgroupParent,
    configErrors,
    startedProbe: startedContainers(context, uid, before),
    failedProbes: context.probes.failures(uid),
    signal,
  });
  context.probes.update(pod, context.podRuntime.status(uid));
  return outcomeOf(context, pod, result);
}

function areAllRunning(pod: PodObject, { containers }: RuntimePodStatus): boolean {
  return pod.spec.containers.every(({ name }) =>
    containers.some(({ config, state }) => config.name === name && state === 'running'),
  );
}

function startedContainers(
  { probes }: ScriptContext,
  uid: string,
  { containers }: RuntimePodStatus,
): ReadonlyMap<string, boolean> {
  const running = containers.filter(({ state }) => state === 'running');
  return new Map(
    running.map((container) => [container.config.name, probes.isStarted(uid, container)]),
  );
}

/** New reasons are shown soon: the kubelet sees them at its generator's next look, a second later. */
function outcomeOf(context: ScriptContext, pod: PodObject, result: PodSyncResult): SyncOutcome {
  const uid = uidOf(pod);
  const known = context.reasons.get(uid);
  const hasNewReasons = [...result.waiting].some(
    ([name, { reason }]) => known?.get(name)?.reason !== reason,
  );
  if (result.waiting.size === 0) context.reasons.delete(uid);
  else context.reasons.set(uid, result.waiting);
  const [failure] = result.failures;
  const dueMs = [
    ...(hasNewReasons ? [context.settings.relistMs] : []),
    ...(result.retryAfterMs === undefined ? [] : [result.retryAfterMs]),
    ...deadlineDelay(context, pod),
  ];
  if (failure === undefined && dueMs.length === 0) return { kind: 'synced' };
  return {
    kind: 'retry',
    why: failure === undefined ? 'something is due' : `${failure.action}: ${failure.message}`,
    ...(dueMs.length === 0 ? {} : { afterMs: Math.min(...dueMs) }),
  };
}

function deadlineDelay(context: ScriptContext, pod: PodObject): readonly number[] {
  const status = context.statuses.get(uidOf(pod)) ?? pod.status ?? {};
  const atMs = activeDeadlineAtMs(pod, status);
  return atMs === undefined ? [] : [Math.max(0, atMs - context.clock.nowMs())];
}
