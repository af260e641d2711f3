/**
 * The promise that is checked after every event: never two non-terminal pods of one DaemonSet on
 * one node (S-promises of the design). A pod that is being deleted still counts: it still runs.
 *
 * Pods are attributed by the UID of the DaemonSet and by the node they are bound to or made for.
 * It does not know of surge, where two at a time are wanted: `podUids` and `revisionHashes` let a
 * test of surge tell the wanted pair from a wrong one.
 */
import type { PodRecord } from './observed-records.ts';

/** Two or more pods where one may be. */
export interface DoublePlacement {
  readonly atMs: number;
  readonly daemonSetUid: string;
  readonly node: string;
  readonly podNames: readonly string[];
  readonly podUids: readonly string[];
  readonly revisionHashes: readonly (string | undefined)[];
  /** How many of the pods are already being deleted. */
  readonly deletingCount: number;
}

/** Follows pods and tells when a node gets one too many. */
export interface DoublePlacementCheck {
  /** The pod was added or changed; returns the violation that this made, if any. */
  readonly apply: (pod: PodRecord, atMs: number) => DoublePlacement | undefined;
  readonly remove: (podUid: string) => void;
}

/** Starts without any pod. */
export function createDoublePlacementCheck(): DoublePlacementCheck {
  const placeOfPod = new Map<string, string>();
  const podsAtPlace = new Map<string, Map<string, PodRecord>>();

  const remove = (podUid: string): void => {
    const place = placeOfPod.get(podUid);
    if (place === undefined) return;
    placeOfPod.delete(podUid);
    const pods = podsAtPlace.get(place);
    pods?.delete(podUid);
    if (pods?.size === 0) podsAtPlace.delete(place);
  };

  return {
    remove,
    apply: (pod, atMs) => {
      const { daemonSetUid, node } = pod;
      if (daemonSetUid === undefined || node === undefined || pod.isTerminal) {
        remove(pod.uid);
        return undefined;
      }
      const place = `${daemonSetUid} ${node}`;
      const isNewHere = placeOfPod.get(pod.uid) !== place;
      if (isNewHere) remove(pod.uid);
      const pods = podsAtPlace.get(place) ?? new Map<string, PodRecord>();
      podsAtPlace.set(place, pods.set(pod.uid, pod));
      placeOfPod.set(pod.uid, place);
      if (!isNewHere || pods.size < 2) return undefined;
      const found = [...pods.values()];
      return {
        atMs,
        daemonSetUid,
        node,
        podNames: found.map((it) => it.name),
        podUids: found.map((it) => it.uid),
        revisionHashes: found.map((it) => it.revisionHash),
        deletingCount: found.filter((it) => it.isDeleting).length,
      };
    },
  };
}
