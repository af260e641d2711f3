/**
 * Closing a snapshot: by now every portion and slice of it was applied, and what they cover without holding it was swept.
 *
 * Left to do: slices beyond a smaller slice count are emptied, what earlier epochs left is removed, and the names as they
 * stand are read once, which is how the manifest need not list them (ADR 0079).
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { NameItem, SnapshotProgress } from '../../../core/model/view-items.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';
import { touchedBy } from './apply-content.ts';
import type { AppliedContent } from './apply-content.ts';
import { emptied, emptying } from './sweep.ts';
import { carryTombstones } from '../slices/carry-tombstones.ts';
import type { ShrinkingSet } from '../slices/carry-tombstones.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { hasFreshTombstones, removeFormerDaemonSets } from '../slices/former-uids.ts';
import { listAllNames } from '../slices/names.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { settlePositions } from '../slices/positions.ts';
import type { PositionsTarget } from '../slices/positions.ts';
import { writeSlices } from '../slices/write-slices.ts';
import type { SliceTarget } from '../slices/write-slices.ts';

/** Of so many names a manifest removes what earlier epochs left under them; of more, a later one does. */
const FORMER_NAMES_MAX = 500;

interface ManifestTarget extends SliceTarget, PositionsTarget {
  readonly snapshot: SnapshotProgress;
  /** Slice count of the view before: of more slices, the rest is emptied. */
  readonly formerSliceCount: number;
  /** Stamps older than this belong to an earlier epoch. */
  readonly epochStart: string;
}

/** Applies a manifest whose hashes agree; the caller writes META next. */
export async function applyManifest(
  target: ManifestTarget,
  dependencies: IngestDependencies,
): Promise<AppliedContent> {
  const listed = await listAllNames(target.clusterUid, dependencies, true);
  const standing = listed.filter(({ uid }) => uid !== null);
  const sets: readonly SlicedSet[] = [
    'nodes',
    ...standing.map(({ uid }): SlicedSet => `pods/${String(uid)}`),
  ];
  const shrinking = sets.flatMap((set) => shrinkingOf(target, set));
  // What is carried has to stand before it is emptied where it was.
  const carried = await carryTombstones(target, shrinking, dependencies);
  const dropped = shrinking.flatMap((one) => one.dropped.map((index) => emptied(one.set, index)));
  const slices = [
    ...(await writeSlices(target, carried, dependencies)),
    ...(await writeSlices(target, dropped, dependencies)),
  ];
  const positions = await settlePositions(target, slices, dependencies);
  const old = listed.filter(
    (item) => item.stamp < target.epochStart && (item.formerUids ?? []).length > 0,
  );
  await removeFormer(target, old.slice(0, FORMER_NAMES_MAX), dependencies);
  // Also of names that a portion swept: its delivery may have ended between that and META.
  const touched = touchedBy(slices, listed, positions);
  return { touched, nameItems: standing };
}

/** A set with the slices that a smaller slice count leaves over. */
function shrinkingOf(
  { snapshot: { sliceCount }, formerSliceCount }: ManifestTarget,
  set: SlicedSet,
): readonly ShrinkingSet[] {
  const count = Math.max(0, formerSliceCount - sliceCount);
  const dropped = Array.from({ length: count }, (_, index) => sliceCount + index);
  return count === 0 ? [] : [{ set, dropped, sliceCount }];
}

/** Removes what earlier epochs left under these names. */
async function removeFormer(
  target: SliceTarget,
  items: readonly NameItem[],
  dependencies: IngestDependencies,
): Promise<void> {
  const { view, options } = dependencies;
  await sideBySide(items, options.concurrencyMax, async (item) => {
    const uids: readonly Uid[] = item.formerUids ?? [];
    // Pods that they still hold are gone, too: no delta said so once their DaemonSet was gone.
    const left = uids.flatMap(emptying);
    await writeSlices(target, left, dependencies);
    const { clusterUid, sentAtMs: nowMs } = target;
    if (await hasFreshTombstones(clusterUid, uids, { nowMs, dependencies })) return;
    const { formerUids: _formerUids, ...rest } = item;
    const { namespace, name } = item;
    await removeFormerDaemonSets({ clusterUid, namespace, name }, uids, dependencies);
    if (item.uid === null) await view.removeName(target.clusterUid, item);
    else await view.writeName(target.clusterUid, { ...rest, stamp: target.stamp });
  });
}
