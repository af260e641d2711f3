/**
 * Clears what is left of pods that are gone (spec node-agent 2, housekeeping): workers, statuses, volumes, directories,
 * cgroups, probes, containers that belong to no pod, mirrors without a static pod.
 *
 * Asked for whenever something may be left, it runs two seconds later, again while work remains, and costs nothing else.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { deleteMirrorPod } from './pods/mirror-pods.ts';
import { isMirrorPod, isTerminalPhase, uidOf } from './shared/pod-object.ts';
import type { PodObject } from './shared/pod-object.ts';
import type { ScriptContext } from './pods/pod-syncer.ts';
import type { PodWorkers } from './pods/pod-workers.ts';

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
  const isBusy = dropWorkers(context, workers);
  restartWanted(context, workers);
  const isGone = (uid: string): boolean =>
    context.pods.get(uid) === undefined && workers.state(uid) === undefined;
  forgetRecords(context, isGone);
  const orphans = context.podRuntime.podUids().filter(isGone);
  for (const uid of orphans) clearRuntime(context, workers, uid);
  for (const mirror of context.pods.mirrors()) {
    if (context.pods.staticPodOf(mirror) === undefined) void deleteMirrorPod(context, mirror);
  }
  return isBusy || orphans.length > 0;
}

/** True when a worker of a pod that is gone is still at work. */
function dropWorkers(context: ScriptContext, workers: PodWorkers): boolean {
  let isBusy = false;
  for (const uid of workers.podUids()) {
    const isDesired = context.pods.get(uid) !== undefined;
    if (isDesired && !workers.isRestartRequested(uid)) continue;
    if (workers.drop(uid)) context.podRuntime.forget(uid);
    else isBusy = true;
  }
  return isBusy;
}

function forgetRecords(context: ScriptContext, isGone: (podUid: string) => boolean): void {
  const { statuses, volumes, directories, cgroups } = context;
  statuses.podUids().filter(isGone).forEach(statuses.forget);
  volumes.podUids().filter(isGone).forEach(volumes.unmount);
  directories.podUids().filter(isGone).forEach(directories.remove);
  cgroups.podUids().filter(isGone).forEach(cgroups.destroy);
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
  context.probes.remove(uid);
  context.podRuntime.removePod(uid).catch((cause: unknown) => {
    context.log.warn('containers not removed', { podUid: uid }, cause);
  });
}
