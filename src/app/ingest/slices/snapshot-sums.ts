/**
 * Set hashes of a snapshot in progress: one sum for each type, of what its slices and deltas carried.
 *
 * A watcher sends each slice once, and no delta into a slice that is still to come; a message is counted in the META that it
 * is applied to, so everything counts exactly once. What is kept does not grow with the cluster (ADR 0079). Sums move by
 * carried hashes alone (protocol 19): a redelivered message moves the META it is applied to by the same difference. Pure.
 */
import { WATCHED_KINDS, type WatchedKind } from '../../../core/model/projections.ts';
import type { SnapshotProgress } from '../../../core/model/view-items.ts';
import type {
  Delta,
  SetHashes,
  SetId,
  SnapshotSlice,
} from '../../../core/model/watcher-message.ts';
import { addHash, subtractHash } from '../../../core/projections/set-hash.ts';

function kindOfSet(set: SetId): WatchedKind {
  if (set === 'nodes') return 'Node';
  if (set === 'daemonsets') return 'DaemonSet';
  return set.startsWith('pods/') ? 'Pod' : 'ControllerRevision';
}

/** The progress after whole slices. */
export function withSlices(
  progress: SnapshotProgress,
  slices: readonly SnapshotSlice[],
): SnapshotProgress {
  const hashes = { ...progress.hashes };
  for (const { set, objects } of slices) {
    const kind = kindOfSet(set);
    hashes[kind] = objects.reduce((sum, { hash }) => addHash(sum, hash), hashes[kind]);
  }
  return { ...progress, hashes };
}

/** True when both name the same sums for every type. */
export function isSameHashes(left: SetHashes, right: SetHashes): boolean {
  return WATCHED_KINDS.every((kind) => left[kind] === right[kind]);
}

/** Set hashes moved by what deltas carry: + what they are sent under, − what they were. */
export function movedHashes(hashes: SetHashes, deltas: readonly Delta[]): SetHashes {
  const moved = { ...hashes };
  for (const delta of deltas) {
    for (const { hash } of delta.formerSets) moved[delta.of] = subtractHash(moved[delta.of], hash);
    for (const { hash } of delta.sets) moved[delta.of] = addHash(moved[delta.of], hash);
  }
  return moved;
}
