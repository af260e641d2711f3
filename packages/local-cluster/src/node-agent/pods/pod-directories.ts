/**
 * The directories that a node keeps for its pods, as bookkeeping: /var/lib/kubelet/pods/UID with volumes, plugins and
 * etc-hosts (spec node-agent 4f). A directory outlives its pod until the volumes in it are unmounted; housekeeping asks
 * for those that are left over.
 */

/** The pod directories of one node. */
export interface PodDirectories {
  readonly make: (podUid: string) => void;
  readonly remove: (podUid: string) => void;
  readonly podUids: () => readonly string[];
}

/** Starts with none. */
export function createPodDirectories(): PodDirectories {
  const uids = new Set<string>();
  return {
    make: (uid) => {
      uids.add(uid);
    },
    remove: (uid) => {
      uids.delete(uid);
    },
    podUids: () => [...uids],
  };
}
