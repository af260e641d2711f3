/**
 * Applies what a message carries, in the order on which everything rests (protocol 20): slices and
 * DaemonSets, then names. The caller writes META next, with the positions that follow, and sends hints last.
 *
 * A crash between any two is repaired by redelivery: every step skips what it finds done, and answers
 * the stamps as they stand, so that META comes out the same. Nothing here reads a clock.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import { ZERO_STAMP, laterStamp } from '../../../core/model/position.ts';
import type { NameItem, Positions } from '../../../core/model/view-items.ts';
import {
  isInRange,
  nameKeyOf,
  SLICE_COUNT_MAX,
  slicesOfDaemonSet,
  slicesOfSet,
} from '../../../core/projections/set-hash.ts';
import type {
  ChangesBody,
  SetId,
  SlicesBody,
  SnapshotSlice,
} from '../../../core/model/watcher-message.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';
import {
  isStanding,
  nameChangesOfDeltas,
  writeDaemonSets,
  writesOfDeltas,
} from '../slices/daemon-set-writes.ts';
import type { IngestDependencies, WarmNames } from '../process/dependencies.ts';
import type { Touched } from '../message/meta-transitions.ts';
import { latestNameStamp, writeNames, type NameChange } from '../slices/names.ts';
import { ownerOf, settlePositions, type PositionsTarget } from '../slices/positions.ts';
import {
  editsOfDeltas,
  editsOfSlices,
  ensuring,
  replacing,
  type SliceEdit,
} from '../slices/slice-edits.ts';
import {
  latestStamp,
  writeSlices,
  type SliceTarget,
  type WrittenSlice,
} from '../slices/write-slices.ts';

export interface ContentTarget extends SliceTarget, PositionsTarget {
  readonly sliceCount: number;
  /** True while every slice of a live set must exist: a missing one is a loss. */
  readonly isComplete: boolean;
  readonly names: WarmNames;
}

export interface AppliedContent {
  readonly touched: Touched;
  readonly nameItems: readonly NameItem[];
}

export async function applyDeltas(
  target: ContentTarget,
  body: ChangesBody,
  dependencies: IngestDependencies,
): Promise<AppliedContent> {
  const { byUid } = target.names;
  const mustExist = (set: SlicedSet): boolean =>
    target.isComplete && (set === 'nodes' || byUid.has(ownerOf(set)));
  const { sliceCount } = target;
  const begun = new Set<SetId>(body.begun);
  const isVoid = (set: SlicedSet): boolean => begun.has(set);
  const edits = editsOfDeltas(body.deltas, { sliceCount, mustExist, isVoid });
  // Also one whose name this very message wrote before a crash: its position may be missing yet.
  const isNew = (uid: Uid): boolean => (byUid.get(uid)?.stamp ?? target.stamp) >= target.stamp;
  // A new DaemonSet's slices exist before the DaemonSet does (protocol 18).
  const born = body.deltas
    .filter((delta) => delta.of === 'DaemonSet' && isStanding(delta) && isNew(delta.uid))
    .flatMap(({ uid }) => slicesOfDaemonSet(uid, sliceCount))
    .map(({ set, index }) =>
      isVoid(set)
        ? replacing({ set, index, objects: [] }, { rewritesAll: false })
        : ensuring(set, index),
    );
  const left = [...begun].flatMap((set) => leftIn(set, sliceCount));
  const all = withoutRepeats([...edits, ...born, ...left]);
  const slices = await writeSlices(target, all, dependencies);
  const writes = writesOfDeltas(body.deltas);
  await writeDaemonSets(target, writes, { unlessEqual: false, dependencies });
  const nameItems = await applyNames(target, nameChangesOfDeltas(body.deltas), dependencies);
  const positions = await settlePositions(target, slices, dependencies);
  return { touched: touchedBy(slices, nameItems, positions), nameItems };
}

/** Applies whole slices of a snapshot; after a loss every one is written. What a portion covers and does not hold goes. */
export async function applySlices(
  target: ContentTarget & { readonly rewritesAll: boolean },
  body: SlicesBody,
  dependencies: IngestDependencies,
): Promise<AppliedContent> {
  const { names, sliceCount, isComplete, rewritesAll } = target;
  const portions = body.slices.filter((slice) => slice.set === 'daemonsets');
  const daemonSets = portions.flatMap((slice) => slice.objects.map(({ object }) => object));
  const born = isComplete ? daemonSets.filter(({ uid }) => !names.byUid.has(uid)) : [];
  const ensured = born
    .flatMap(({ uid }) => slicesOfDaemonSet(uid, sliceCount))
    .map(({ set, index }) => ensuring(set, index));
  const edits = withoutRepeats([...editsOfSlices(body.slices, target), ...ensured]);
  const written = await writeSlices(target, edits, dependencies);
  const writes = daemonSets.map((object) => ({ uid: object.uid, object }));
  await writeDaemonSets(target, writes, { unlessEqual: !rewritesAll, dependencies });
  const gone = portions.flatMap((portion) => leftOutOf(portion, names.byUid.values()));
  const changes = daemonSets.map((object): NameChange => {
    const namespace = 'namespace' in object ? (object.namespace ?? '') : '';
    return { namespace, name: object.name, arrived: object.uid, departed: [] };
  });
  const arriving = new Set(changes.map(nameKeyOf));
  const swept = await sweep(target, { gone, arriving }, dependencies);
  const arrived = await applyNames(target, changes, dependencies);
  const slices = [...written, ...swept.slices];
  const nameItems = [...swept.nameItems, ...arrived];
  const positions = await settlePositions(target, slices, dependencies);
  return { touched: touchedBy(slices, nameItems, positions), nameItems };
}

/** What stands in the names that a portion covers, and not in it. */
function leftOutOf(
  { covers, objects }: SnapshotSlice,
  standing: Iterable<NameItem>,
): readonly NameItem[] {
  if (covers === undefined) return [];
  const live = new Set(objects.map(({ object }) => object.uid));
  return [...standing].filter(
    (item) => isInRange(covers, nameKeyOf(item)) && item.uid !== null && !live.has(item.uid),
  );
}

function leftIn(set: SetId, sliceCount: number): readonly SliceEdit[] {
  if (set === 'daemonsets') return [];
  return Array.from({ length: slicesOfSet(set, sliceCount) }, (_, index) => emptied(set, index));
}

/** Stamps and positions of what was touched, for META. */
export function touchedBy(
  slices: readonly WrittenSlice[],
  nameItems: readonly NameItem[],
  positions: Positions,
): Touched {
  return {
    positions,
    nodes: latestStamp(slices, 'nodes'),
    names: latestNameStamp(nameItems),
    slices: slices.reduce((latest, { stamp }) => laterStamp(latest, stamp), ZERO_STAMP),
  };
}

/** The first edit of each slice: what a delta brings goes before making sure that it exists. */
function withoutRepeats(edits: readonly SliceEdit[]): readonly SliceEdit[] {
  const bySlice = new Map<string, SliceEdit>();
  for (const edit of edits) {
    const key = `${edit.set}#${edit.index}`;
    if (!bySlice.has(key)) bySlice.set(key, edit);
  }
  return [...bySlice.values()];
}

/** Writes the names that are not known to stand so already. */
async function applyNames(
  target: ContentTarget,
  changes: readonly NameChange[],
  dependencies: IngestDependencies,
): Promise<readonly NameItem[]> {
  const known: NameItem[] = [];
  const unknown: NameChange[] = [];
  for (const change of changes) {
    const item = change.arrived === undefined ? undefined : target.names.byUid.get(change.arrived);
    const isKnown =
      item?.namespace === change.namespace &&
      item.name === change.name &&
      change.departed.length === 0;
    if (isKnown) known.push(item);
    else unknown.push(change);
  }
  return [...known, ...(await writeNames(target, unknown, dependencies))];
}

/** So many are swept before the next are begun. */
const AT_ONCE = 50;

interface Swept {
  readonly slices: readonly WrittenSlice[];
  readonly nameItems: readonly NameItem[];
}

/**
 * DaemonSets that a snapshot covers and does not hold were deleted while no watcher ran (row 82): slices, object and name
 * are emptied under this stamp, and removed by a manifest of a later epoch (protocol 18). The name goes last and some go
 * at a time: a delivery that runs out of time leaves fewer to the next one.
 */
async function sweep(
  target: SliceTarget,
  {
    gone,
    arriving,
  }: { readonly gone: readonly NameItem[]; readonly arriving: ReadonlySet<string> },
  dependencies: IngestDependencies,
): Promise<Swept> {
  const slices: WrittenSlice[] = [];
  const nameItems: NameItem[] = [];
  for (let from = 0; from < gone.length; from += AT_ONCE) {
    const some = gone
      .slice(from, from + AT_ONCE)
      .flatMap(({ namespace, name, uid }) => (uid === null ? [] : [{ namespace, name, uid }]));
    const edits = some.flatMap(({ uid }) => emptying(uid));
    slices.push(...(await writeSlices(target, edits, dependencies)));
    const objects = some.map(({ uid }) => ({ uid, object: null }));
    await writeDaemonSets(target, objects, { unlessEqual: true, dependencies });
    const changes = some
      .filter((name) => !arriving.has(nameKeyOf(name)))
      .map(({ uid, ...name }) => ({ ...name, departed: [uid] }));
    nameItems.push(...(await writeNames(target, changes, dependencies)));
  }
  return { slices, nameItems };
}

export function emptied(set: SlicedSet, index: number): SliceEdit {
  return { ...replacing({ set, index, objects: [] }, { rewritesAll: false }), ifMissing: 'leave' };
}

/** Empties every slice that a DaemonSet may have. */
export function emptying(uid: Uid): readonly SliceEdit[] {
  return slicesOfDaemonSet(uid, SLICE_COUNT_MAX).map(({ set, index }) => emptied(set, index));
}
