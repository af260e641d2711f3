/**
 * Closing a snapshot: what the manifest does not name goes, what it names exists, even if empty.
 *
 * A DaemonSet that is not named was deleted while nobody watched (row 82): its object, its name and
 * its slices are emptied under this stamp, never removed at once, so that a late process finds
 * something newer than what it holds. The items are removed by a manifest of a later epoch (protocol
 * 18). A slice that was not sent is empty: the set hashes have proved that before this runs.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { NameItem, SnapshotProgress } from '../../../core/model/view-items.ts';
import type { ManifestBody, SetId } from '../../../core/model/watcher-message.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';
import { touchedBy } from './apply-content.ts';
import type { AppliedContent } from './apply-content.ts';
import { carryTombstones } from '../slices/carry-tombstones.ts';
import type { ShrinkingSet } from '../slices/carry-tombstones.ts';
import { writeDaemonSets } from '../slices/daemon-set-writes.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import {
  SLICE_COUNT_MAX,
  hasFreshTombstones,
  removeFormerDaemonSets,
} from '../slices/former-uids.ts';
import { listAllNames, writeNames } from '../slices/names.ts';
import type { NameChange } from '../slices/names.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { settlePositions } from '../slices/positions.ts';
import type { PositionsTarget } from '../slices/positions.ts';
import { replacing } from '../slices/slice-edits.ts';
import type { SliceEdit } from '../slices/slice-edits.ts';
import { isReceived, slicesOfDaemonSet, slicesOfSet } from '../slices/snapshot-sums.ts';
import { writeSlices } from '../slices/write-slices.ts';
import type { SliceTarget } from '../slices/write-slices.ts';

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
  body: ManifestBody,
  dependencies: IngestDependencies,
): Promise<AppliedContent> {
  const { clusterUid } = target;
  const listed = await listAllNames(clusterUid, dependencies, true);
  const live = new Set(body.daemonSets.map(({ uid }) => uid));
  const swept = listed.filter((item) => item.uid !== null && !live.has(item.uid));
  const sweptUids = swept.flatMap(({ uid }) => (uid === null ? [] : [uid]));
  const sets = namedSets(body);
  const shrinking = sets.flatMap((set) => shrinkingOf(target, set));
  const named = sets.flatMap((set) => editsOfNamedSet(target, set));
  // What is carried has to stand before it is emptied where it was.
  const carried = await carryTombstones(target, named, { shrinking, dependencies });
  const edits = [
    ...sets.flatMap((set) => droppedOf(target, set).map((index) => emptied(set, index))),
    ...sweptUids.flatMap(emptying),
  ];
  const slices = [
    ...(await writeSlices(target, carried, dependencies)),
    ...(await writeSlices(target, edits, dependencies)),
  ];
  const gone = sweptUids.map((uid) => ({ uid, object: null }));
  await writeDaemonSets(target, gone, { unlessEqual: true, dependencies });
  const changes = nameChangesOf(body, listed, swept);
  const nameItems = await writeNames(target, changes, dependencies);
  const positions = await settlePositions(target, slices, dependencies);
  const written = new Set(nameItems.map(({ namespace, name }) => `${namespace}/${name}`));
  const unchanged = listed.filter(({ namespace, name }) => !written.has(`${namespace}/${name}`));
  const old = unchanged.filter(
    (item) => item.stamp < target.epochStart && (item.formerUids ?? []).length > 0,
  );
  await removeFormer(target, { items: old, body }, dependencies);
  const standing = [...nameItems, ...unchanged.filter(({ uid }) => uid !== null)];
  return { touched: touchedBy(slices, standing, positions), nameItems: standing };
}

function namedSets(body: ManifestBody): readonly SlicedSet[] {
  const sets = new Set<SetId>(['nodes', ...body.sets]);
  for (const { uid } of body.daemonSets) sets.add(`pods/${uid}`).add(`revisions/${uid}`);
  return [...sets].filter((set) => set !== 'daemonsets');
}

/** Slices that must exist and were not sent. */
function editsOfNamedSet({ snapshot }: ManifestTarget, set: SlicedSet): readonly SliceEdit[] {
  const rewritesAll = snapshot.isAfterLoss;
  return indexesOf(0, slicesOfSet(set, snapshot.sliceCount))
    .filter((index) => !isReceived(snapshot, set, index))
    .map((index) => replacing({ set, index, objects: [] }, { rewritesAll }));
}

/** Slices beyond the new slice count. */
function droppedOf(target: ManifestTarget, set: SlicedSet): readonly number[] {
  const { snapshot, formerSliceCount } = target;
  return indexesOf(slicesOfSet(set, snapshot.sliceCount), slicesOfSet(set, formerSliceCount));
}

function shrinkingOf(target: ManifestTarget, set: SlicedSet): readonly ShrinkingSet[] {
  const dropped = droppedOf(target, set);
  if (dropped.length === 0 || !set.startsWith('pods/')) return [];
  const { snapshot } = target;
  const { sliceCount } = snapshot;
  const received = indexesOf(0, sliceCount).filter((index) => isReceived(snapshot, set, index));
  return [{ set, received, dropped, sliceCount }];
}

function indexesOf(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

function emptied(set: SlicedSet, index: number): SliceEdit {
  return { ...replacing({ set, index, objects: [] }, { rewritesAll: false }), ifMissing: 'leave' };
}

function emptying(uid: Uid): readonly SliceEdit[] {
  return slicesOfDaemonSet(uid, SLICE_COUNT_MAX).map(({ set, index }) => emptied(set, index));
}

function nameChangesOf(
  body: ManifestBody,
  listed: readonly NameItem[],
  swept: readonly NameItem[],
): readonly NameChange[] {
  const keyOf = (item: { readonly namespace: string; readonly name: string }): string =>
    `${item.namespace}/${item.name}`;
  const byName = new Map(listed.map((item) => [keyOf(item), item]));
  const arrivals = body.daemonSets
    .filter((daemonSet) => byName.get(keyOf(daemonSet))?.uid !== daemonSet.uid)
    .map(({ namespace, name, uid }) => ({ namespace, name, arrived: uid, departed: [] }));
  const arrived = new Set(arrivals.map(keyOf));
  const departures = swept
    .filter((item) => !arrived.has(keyOf(item)))
    .map(({ namespace, name, uid }) => ({ namespace, name, departed: uid === null ? [] : [uid] }));
  return [...arrivals, ...departures];
}

/** Removes what earlier epochs left; not what this snapshot still names. */
async function removeFormer(
  target: SliceTarget,
  swept: { readonly items: readonly NameItem[]; readonly body: ManifestBody },
  dependencies: IngestDependencies,
): Promise<void> {
  const { view, options } = dependencies;
  const named = new Set<SetId>(swept.body.sets);
  const isNamed = (uid: Uid): boolean => named.has(`pods/${uid}`) || named.has(`revisions/${uid}`);
  await sideBySide(swept.items, options.concurrencyMax, async (item) => {
    const uids = item.formerUids ?? [];
    if (uids.some(isNamed)) return;
    // Pods that they still hold are gone, too: no delta said so once their DaemonSet was gone.
    const left = uids.flatMap(emptying);
    await writeSlices(target, left, dependencies);
    const { clusterUid, sentAtMs: nowMs } = target;
    if (await hasFreshTombstones(clusterUid, uids, { nowMs, dependencies })) return;
    await removeFormerDaemonSets(target.clusterUid, uids, dependencies);
    const { formerUids: _formerUids, ...rest } = item;
    if (item.uid === null) await view.removeName(target.clusterUid, item);
    else await view.writeName(target.clusterUid, { ...rest, stamp: target.stamp });
  });
}
