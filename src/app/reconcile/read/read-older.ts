/**
 * The older tombstones of slices that were just read (S13, ADR 0076).
 *
 * A slice refers to an item of them by a version, which that item has at least: it was written first. Memory that has this
 * version saves the read. An item that is older, or not there, was damaged or restored: a name could come back, so the set
 * counts as moving, until ten minutes after the last of them by the times of the view's messages: by no clock of a function.
 */
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import { areOlderNeeded } from '../../../core/pod/tombstones.ts';
import type { SlicedSet, ViewReader } from '../../../ports/stores/view-store.ts';
import type { WarmSet } from '../process/warmth.ts';

/** A slice as it was found: its stamp, and itself where it was read. */
export interface Found {
  readonly stamp: Stamp;
  readonly slice?: Slice;
}

/** Older tombstones by the index of their slice. */
export type OlderFound = ReadonlyMap<number, OlderTombstones>;

/** Reads those that are still needed of slices that were read; undefined where an item is not what its slice refers to. */
export async function readOlder(
  of: {
    readonly clusterUid: ClusterUid;
    readonly set: SlicedSet;
    /** The time of the last message that the view was told. */
    readonly nowMs: number;
  },
  found: readonly (Found | undefined)[],
  known: {
    readonly former: WarmSet | undefined;
    readonly view: Pick<ViewReader, 'readOlderTombstones'>;
  },
): Promise<OlderFound | undefined> {
  const { clusterUid, set, nowMs } = of;
  const wanted = found.flatMap((each, index) => {
    const older = each?.slice?.older;
    return areOlderNeeded(older, nowMs) ? [{ index, version: older.version }] : [];
  });
  const read = await Promise.all(
    wanted.map(async ({ index, version }) => {
      const remembered = known.former?.slices[index]?.older;
      if (remembered !== undefined && remembered.version >= version) return remembered;
      return known.view.readOlderTombstones({ clusterUid, set, index });
    }),
  );
  const all = new Map<number, OlderTombstones>();
  for (const [at, { index, version }] of wanted.entries()) {
    const older = read[at];
    if (older === undefined || older.version < version) return undefined;
    all.set(index, older);
  }
  return all;
}
