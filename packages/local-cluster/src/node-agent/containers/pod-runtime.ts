/**
 * Drives the container runtime for the pods of one node: the kubelet's runtime manager (spec node-agent 5 and 8).
 *
 * Knows nothing of pods but what the runtime holds and the back-off of their failures, which `forget` drops. Calls for
 * one pod come one at a time from its worker, but for a second killPod, which hurries the first.
 */
import type { PodRuntime, RuntimePodStatus } from '../shared/pod-runtime.ts';
import { podName } from '../shared/pod-object.ts';
import type { ContainerContext } from './shared/container-context.ts';
import { asPod } from './shared/container-spec.ts';
import { createPodKiller } from './lifecycle/kill-pod.ts';
import type { PodBackOffs } from './lifecycle/start-container.ts';
import { syncPodContainers } from './sync-pod-containers.ts';

/** Makes the pod runtime of one node agent. */
export function createPodRuntime(context: ContainerContext): PodRuntime {
  const { runtime, log } = context;
  const killer = createPodKiller(context);
  const backOffs = new Map<string, PodBackOffs>();

  const status = (podUid: string): RuntimePodStatus => ({
    podUid,
    sandboxes: runtime.listPodSandboxes(podUid),
    containers: runtime.listContainers(podUid),
  });
  const backOffsOf = (podUid: string): PodBackOffs => {
    const known = backOffs.get(podUid);
    if (known !== undefined) return known;
    const made: PodBackOffs = { crashes: new Map(), pulls: new Map() };
    backOffs.set(podUid, made);
    return made;
  };

  return {
    status,
    podUids: () => [...new Set(runtime.listPodSandboxes().map(({ config }) => config.podUid))],
    syncPod: (input) => {
      const { uid } = input.pod.metadata;
      const syncContext = {
        ...context,
        killer,
        backOffs: backOffsOf(uid),
        lookUp: () => status(uid),
      };
      return syncPodContainers(syncContext, input);
    },
    killPod: async ({ pod, graceSeconds, reason }) => {
      log.debug('kill pod', { pod: podName(pod), graceSeconds, because: reason });
      await killer.kill({ pod: asPod(pod), graceSeconds });
    },
    removePod: async (podUid) => {
      for (const { id } of runtime.listContainers(podUid)) await runtime.removeContainer(id);
      for (const { id } of runtime.listPodSandboxes(podUid)) await runtime.removePodSandbox(id);
    },
    forget: (podUid) => {
      backOffs.delete(podUid);
    },
    onPodEvent: (listener) =>
      runtime.onEvent(({ podUid }) => {
        listener(podUid);
      }),
  };
}
