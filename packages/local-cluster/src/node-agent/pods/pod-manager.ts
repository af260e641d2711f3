/**
 * The pods that should be on this node, and which mirror in the API belongs to which static pod.
 *
 * The source of truth of the desired state: a pod that is not here is gone or never was. Mirrors are matched by
 * namespace and name, and count as the status of their static pod, never as pods of their own.
 */
import { isMirrorPod, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';

/** The desired pods of one node. */
export interface PodManager {
  readonly put: (pod: PodObject) => void;
  readonly remove: (pod: PodObject) => void;
  readonly get: (podUid: string) => PodObject | undefined;
  /** All but mirrors. */
  readonly list: () => readonly PodObject[];
  readonly mirrors: () => readonly PodObject[];
  readonly mirrorOf: (staticPod: PodObject) => PodObject | undefined;
  readonly staticPodOf: (mirror: PodObject) => PodObject | undefined;
}

/** Starts empty. */
export function createPodManager(): PodManager {
  const pods = new Map<string, PodObject>();
  const namesToUids = new Map<string, string>();
  const mirrors = new Map<string, PodObject>();
  return {
    put: (pod) => {
      if (isMirrorPod(pod)) {
        mirrors.set(podName(pod), pod);
        return;
      }
      pods.set(uidOf(pod), pod);
      namesToUids.set(podName(pod), uidOf(pod));
    },
    remove: (pod) => {
      const name = podName(pod);
      if (isMirrorPod(pod)) {
        const mirror = mirrors.get(name);
        if (mirror !== undefined && uidOf(mirror) === uidOf(pod)) mirrors.delete(name);
        return;
      }
      pods.delete(uidOf(pod));
      if (namesToUids.get(name) === uidOf(pod)) namesToUids.delete(name);
    },
    get: (uid) => pods.get(uid),
    list: () => [...pods.values()],
    mirrors: () => [...mirrors.values()],
    mirrorOf: (staticPod) => mirrors.get(podName(staticPod)),
    staticPodOf: (mirror) => pods.get(namesToUids.get(podName(mirror)) ?? ''),
  };
}
