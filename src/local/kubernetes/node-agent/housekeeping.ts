/**
 * Clears what is left of pods that are gone (spec node-agent 2, housekeeping): workers, statuses, volumes, directories,
 * cgroups, probes, containers that belong to no pod, mirrors without a static pod.
 *
 * Asked for whenever something may be left, it runs two seconds later, again while work remains, and costs nothing else.
 */
import type { Cancel } from '../../../ports/clock.ts';
import { deleteMirrorPod } from './mirror-pods.ts';
import { isMirrorPod, isTerminalPhase, uidOf } from './pod-object.ts';
import type { PodObject } from './pod-object.ts';
import type { ScriptContext } from './pod-syncer.ts';
import type { PodWorkers } from './pod-workers.ts';

/** Housekeeping of one agent. */
export interface Housekeeping {
  /** Something may be left over. */
  readonly request: () => void;
  /** Clears now; called by the sync loop. */
  readonly run: () => void;
}

/** `push` asks the sync loop for a run. */
export function createHousekeeping(
  context: ScriptContext,
  workers: PodWorkers,
  push: () => void,
): Housekeeping {
  let armed: Cancel | undefined;
  const request = (): void => {
    armed ??= context.clock.after(context.settings.housekeepingMs, () => {
      armed = undefined;
      push();
    });
  };
  return {
    request,
    run: () => {
      const isWorkLeft = cleanUp(context, workers);
      if (isWorkLeft) request();
    },
  };
}

/** True when something is still to be cleared that cannot be cleared yet. */
function cleanUp(context: ScriptContext, workers: PodWorkers): boolean {
  const { pods, statuses, volumes, directories, cgroups } = context;
  let isWorkLeft = false;
  for (const uid of workers.podUids()) {
    const isDesired = pods.get(uid) !== undefined;
    if (isDesired && !workers.isRestartRequested(uid)) continue;
    if (!workers.drop(uid)) isWorkLeft = true;
  }
  restartWanted(context, workers);

  const isGone = (uid: string): boolean =>
    pods.get(uid) === undefined && workers.state(uid) === undefined;
  for (const uid of statuses.podUids()) if (isGone(uid)) statuses.forget(uid);
  for (const uid of volumes.podUids()) if (isGone(uid)) volumes.unmount(uid);
  for (const uid of directories.podUids()) if (isGone(uid)) directories.remove(uid);
  for (const uid of cgroups.podUids()) if (isGone(uid)) cgroups.destroy(uid);
  for (const uid of context.podRuntime.podUids()) {
    if (!isGone(uid)) continue;
    clearRuntime(context, workers, uid);
    isWorkLeft = true;
  }
  for (const mirror of pods.mirrors()) {
    if (pods.staticPodOf(mirror) === undefined) void deleteMirrorPod(context, mirror);
  }
  return isWorkLeft;
}

/** Static pods that came back with the UID of one that has just ended. */
function restartWanted({ pods, statuses }: ScriptContext, workers: PodWorkers): void {
  for (const pod of pods.list()) {
    if (workers.state(uidOf(pod)) !== undefined || isMirrorPod(pod)) continue;
    const { phase } = statuses.get(uidOf(pod)) ?? pod.status ?? {};
    if (isTerminalPhase(phase)) continue;
    workers.update({ type: 'create', pod });
  }
}

/** Containers of a pod that nobody knows any more: they are stopped at once, then removed. */
function clearRuntime(context: ScriptContext, workers: PodWorkers, uid: string): void {
  const { sandboxes, containers } = context.podRuntime.status(uid);
  const isRunning = containers.some(({ state }) => state === 'running');
  const isReady = sandboxes.some(({ state }) => state === 'ready');
  const [sandbox] = sandboxes;
  if ((isRunning || isReady) && sandbox !== undefined) {
    context.log.debug('orphaned pod', { podUid: uid });
    const { namespace, name } = sandbox.config;
    const pod: PodObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, uid, resourceVersion: '', creationTimestamp: '' },
      spec: { containers: [] },
    };
    workers.update({ type: 'kill', pod, kill: { graceSeconds: 1, reason: 'orphaned' } });
    return;
  }
  context.podRuntime.forget(uid);
  context.probes.remove(uid);
  context.podRuntime.removePod(uid).catch((cause: unknown) => {
    context.log.warn('containers not removed', { podUid: uid }, cause);
  });
}
