/**
 * Ends all that a pod runs: its containers in parallel, sidecars last, then its sandboxes (spec node-agent 8).
 *
 * Invariant: nothing of the pod runs when it resolves, whatever containers do with SIGTERM. A second call while one is
 * under way ends the waiting for hooks and turns and brings the SIGKILL forward.
 */
import type { RuntimeContainer } from '../../../runtime/cri.ts';
import { isSidecar } from '../../shared/pod-object.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import type { ContainerContext } from '../shared/container-context.ts';
import { initContainersOf } from '../shared/container-spec.ts';
import { MINIMUM_GRACE_SECONDS, killContainer } from './kill-container.ts';
import { createTerminationOrder } from '../shared/termination-order.ts';

/** Kills pods; remembers which kills are under way. */
export interface PodKiller {
  kill(input: { readonly pod: PodObject; readonly graceSeconds: number }): Promise<void>;
}

/** Makes the killer of one node agent. */
export function createPodKiller(context: ContainerContext): PodKiller {
  const underWay = new Map<string, AbortController>();

  const killOrdered = async (
    pod: PodObject,
    options: { readonly graceSeconds: number; readonly signal: AbortSignal },
  ): Promise<void> => {
    const live = liveContainers(context, pod);
    const hasSidecar = initContainersOf(pod).some(isSidecar);
    const order = hasSidecar
      ? createTerminationOrder(pod, new Set(live.map(({ config }) => config.name)))
      : undefined;
    await Promise.all(
      live.map((container) =>
        killContainer(context, {
          pod,
          container,
          message: `Stopping container ${container.config.name}`,
          ...options,
          ...(order === undefined ? {} : { order }),
        }),
      ),
    );
  };

  const hurry = async (pod: PodObject, graceSeconds: number): Promise<void> => {
    const seconds = Math.max(graceSeconds, MINIMUM_GRACE_SECONDS);
    await Promise.all(
      liveContainers(context, pod).map(({ id }) => context.runtime.stopContainer(id, seconds)),
    );
  };

  return {
    kill: async ({ pod, graceSeconds }) => {
      const { uid } = pod.metadata;
      const first = underWay.get(uid);
      if (first === undefined) {
        const controller = new AbortController();
        underWay.set(uid, controller);
        try {
          await killOrdered(pod, { graceSeconds, signal: controller.signal });
        } finally {
          underWay.delete(uid);
        }
      } else {
        const stopped = hurry(pod, graceSeconds);
        first.abort();
        await stopped;
      }
      for (const { id } of context.runtime.listPodSandboxes(uid)) {
        await context.runtime.stopPodSandbox(id);
      }
    },
  };
}

function liveContainers(
  { runtime }: ContainerContext,
  { metadata }: PodObject,
): readonly RuntimeContainer[] {
  return runtime.listContainers(metadata.uid).filter(({ state }) => state !== 'exited');
}
