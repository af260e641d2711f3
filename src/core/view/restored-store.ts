/**
 * Was etcd restored since the view was written? The store's own version tells, and nobody has to have noticed (row 71).
 *
 * A consistent read is never behind what was read or written before it, so a store behind a mark is of another history.
 * Only marks of DaemonSets count, the type that was read: some API servers keep types in stores of their own, whose
 * versions are not to be compared. What is unknown is no restore. Once the new history got past the marks, this says
 * nothing any more. Pure.
 */
import { compareResourceVersions, newerVersion } from '../model/identifiers.ts';
import type { ResourceVersion } from '../model/identifiers.ts';
import type { DaemonSetState } from '../model/state.ts';
import type { ClusterMeta } from '../model/view-items.ts';

/** What was seen of a store before: by the watcher, and by the answers to our own writes (of the same era only). */
export interface SeenOfStore {
  readonly meta: Pick<ClusterMeta, 'marks' | 'era'>;
  readonly written: DaemonSetState['written'] | undefined;
}

/** True if the store that answered a live read of a DaemonSet is behind what was seen of its DaemonSets (protocol 15). */
export function isStoreRestored(
  storeVersion: ResourceVersion | undefined,
  { meta, written }: SeenOfStore,
): boolean {
  const ownVersion = written?.era === meta.era ? written.daemonSet : undefined;
  const seen = newerVersion(meta.marks.DaemonSet, ownVersion);
  if (storeVersion === undefined || seen === undefined) return false;
  return compareResourceVersions(storeVersion, seen) < 0;
}
