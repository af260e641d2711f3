/**
 * Tombstones of slices that a smaller view has no more are carried to those that it has (S13, ADR 0030).
 *
 * A cluster that falls below 300 or 2,000 nodes has fewer slices; the others are never read again. Assumes that
 * every object of the snapshot stands in its slice by now, so that a pod of a dropped slice which none of them
 * holds is gone. Read at each delivery of the manifest, and written before the dropped slices are emptied: a crash in
 * between carries again. What is carried stays bounded by core/tombstones.ts.
 */
import { sliceIndexIn } from '../../../core/projections/set-hash.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { Tombstone } from '../../../core/model/projections.ts';
import { areOlderNeeded } from '../../../core/pod/tombstones.ts';
import type { SliceRef, SlicedSet, ViewReader } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { SliceEdit } from './slice-edits.ts';
import { tombstonesOf, type SliceTarget } from './write-slices.ts';

/** A set whose view shrinks. */
export interface ShrinkingSet {
  readonly set: SlicedSet;
  /** Indexes of slices that are dropped. */
  readonly dropped: readonly number[];
  readonly sliceCount: number;
}

/** An edit for each slice into which something is carried; its objects stay. */
export async function carryTombstones(
  target: SliceTarget,
  shrinking: readonly ShrinkingSet[],
  dependencies: IngestDependencies,
): Promise<readonly SliceEdit[]> {
  const ofPods = shrinking.filter(({ set }) => set.startsWith('pods/'));
  const { concurrencyMax } = dependencies.options;
  const found = await sideBySide(ofPods, concurrencyMax, (set) =>
    findCarried(target, set, dependencies),
  );
  return found.flat();
}

async function findCarried(
  target: SliceTarget,
  { set, dropped, sliceCount }: ShrinkingSet,
  { view, options }: IngestDependencies,
): Promise<readonly SliceEdit[]> {
  const { clusterUid, sentAtMs } = target;
  const { concurrencyMax } = options;
  const buried = await sideBySide(dropped, concurrencyMax, (index) =>
    readBuried({ clusterUid, set, index }, sentAtMs, view),
  );
  const left = buried.flat();
  if (left.length === 0) return [];
  const indexes = Array.from({ length: sliceCount }, (_, index) => index);
  const kept = await sideBySide(indexes, concurrencyMax, (index) =>
    view.readSlice({ clusterUid, set, index }),
  );
  const living = new Set<Uid>();
  for (const slice of kept) for (const { object } of slice?.objects ?? []) living.add(object.uid);
  const bySlice = new Map<number, Tombstone[]>();
  for (const tombstone of left.filter(({ uid }) => !living.has(uid))) {
    const index = sliceIndexIn(set, tombstone.name, sliceCount);
    bySlice.set(index, [...(bySlice.get(index) ?? []), tombstone]);
  }
  return [...bySlice].map(([index, buries]) => ({
    set,
    index,
    edit: () => undefined,
    ifMissing: 'create',
    buries,
  }));
}

/** All that goes with a slice that is dropped: of its pods, what it remembers, and what it had no room for. */
async function readBuried(
  ref: SliceRef,
  nowMs: number,
  view: Pick<ViewReader, 'readSlice' | 'readOlderTombstones'>,
): Promise<readonly Tombstone[]> {
  const slice = await view.readSlice(ref);
  if (slice === undefined) return [];
  const own = tombstonesOf(slice, [], nowMs);
  if (!areOlderNeeded(slice.older, nowMs)) return own;
  const older = await view.readOlderTombstones(ref);
  return [...own, ...(older?.gone ?? [])];
}
