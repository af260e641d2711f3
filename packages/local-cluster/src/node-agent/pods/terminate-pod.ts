/**
 * The end of a pod (spec node-agent 8), in two steps that the pod's worker takes one after the other: stop its
 * containers and sandbox, then give back what it held.
 *
 * The first step rejects as long as something runs, and is tried again; the second must not begin before. A pod that is
 * known from the runtime alone has no object, so no status is written for it. Ended containers of a pod that is not
 * deleted stay, as `kubectl` shows them. The final DELETE is the status manager's, after the last status has been
 * written.
 */
import { isRuntimePod, isStaticPod, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import { computeStatus } from './pod-syncer.ts';
import type { ScriptContext } from './pod-syncer.ts';
import type { PodSyncer } from './pod-workers.ts';

/** Stops everything that runs of the pod: pre-stop hook, SIGTERM, grace period, SIGKILL. Rejects when something still runs. */
export async function syncTerminatingPod(
  context: ScriptContext,
  input: Parameters<PodSyncer['syncTerminatingPod']>[0],
): Promise<void> {
  const { pod, graceSeconds } = input;
  const uid = uidOf(pod);
  context.log.debug('terminating pod', { pod: podName(pod), graceSeconds });
  if (!isRuntimePod(pod)) {
    context.statuses.set(pod, input.changeStatus(computeStatus(context, pod, false)));
  }
  try {
    await context.podRuntime.killPod({ pod, graceSeconds, reason: input.reason });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    context.record({
      about: pod,
      type: 'Warning',
      reason: 'FailedKillPod',
      message: `error killing pod: ${message}`,
    });
    throw new Error(`error killing terminating pod: ${message}`, { cause });
  }
  context.probes.remove(uid);
  const running = context.podRuntime
    .status(uid)
    .containers.filter(({ state }) => state === 'running');
  if (running.length > 0) {
    throw new Error(`containers still run after the pod was killed: ${String(running.length)}`);
  }
  if (!isRuntimePod(pod)) context.statuses.set(pod, computeStatus(context, pod, true));
}

/** Unmounts volumes, removes what is left in the runtime of a deleted pod, and the cgroup; then the status is final. */
export async function syncTerminatedPod(context: ScriptContext, pod: PodObject): Promise<void> {
  const uid = uidOf(pod);
  const isOrphan = isRuntimePod(pod);
  if (!isOrphan) context.statuses.set(pod, computeStatus(context, pod, true));
  context.volumes.unmount(uid);
  context.directories.remove(uid);
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  // Ended containers of a pod that is still to be seen keep their logs.
  if (isDeleted || isOrphan || isStaticPod(pod)) await context.podRuntime.removePod(uid);
  context.cgroups.destroy(uid);
  context.reasons.delete(uid);
  if (!isOrphan) context.statuses.terminate(pod);
  context.log.debug('pod terminated', { pod: podName(pod) });
}
