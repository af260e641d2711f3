/**
 * Writes slice edits by compare-and-set on the stamp that was read; a slice that is not older than the message is left
 * alone (row 79).
 *
 * The slice this process saw last saves a read. Answers the stamps as they stand afterwards, also of slices that were
 * skipped: a position is made of them (protocol 20). What a write takes out of a slice of pods leaves a tombstone
 * there; of many, they move on.
 */
import { ZERO_STAMP, laterStamp, type Stamp } from '../../../core/model/position.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { Tombstone } from '../../../core/model/projections.ts';
import type { OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import { areOlderNeeded, keepTombstones, tombstoneOf } from '../../../core/pod/tombstones.ts';
import type { SliceRef, SlicedSet } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { SliceEdit } from './slice-edits.ts';
import { writeFitting } from './too-large.ts';

const NONE: OlderTombstones = { version: 0, gone: [] };

/** Where edits are written, and under which stamp. */
export interface SliceTarget {
  readonly clusterUid: ClusterUid;
  readonly stamp: Stamp;
  /** When the queue took the message: since when a pod that it takes away counts as gone. */
  readonly sentAtMs: number;
}

/** A slice as it stands after its edit. */
export interface WrittenSlice {
  readonly set: SlicedSet;
  readonly stamp: Stamp;
}

/** A slice that must exist does not: the view is not whole. */
export class SliceMissingError extends Error {
  override readonly name = 'SliceMissingError';
}

/** Applies the edits side by side. Throws SliceMissingError, or what the store rejects with. */
export function writeSlices(
  target: SliceTarget,
  edits: readonly SliceEdit[],
  dependencies: IngestDependencies,
): Promise<readonly WrittenSlice[]> {
  return sideBySide(edits, dependencies.options.concurrencyMax, async (edit) => ({
    set: edit.set,
    stamp: await writeSlice(target, edit, dependencies),
  }));
}

async function writeSlice(
  target: SliceTarget,
  edit: SliceEdit,
  dependencies: IngestDependencies,
): Promise<Stamp> {
  const { view, processCache, options } = dependencies;
  const ref: SliceRef = { clusterUid: target.clusterUid, set: edit.set, index: edit.index };
  const warm = await tryOverRemembered({ ref, target, edit }, dependencies);
  if (warm !== undefined) return warm;
  for (let attempt = 0; attempt < options.writeTriesMax; attempt += 1) {
    const stored = await view.readSlice(ref);
    processCache.keepSlice(ref, stored);
    if (stored === undefined && edit.ifMissing === 'leave') return ZERO_STAMP;
    if (stored === undefined && edit.ifMissing === 'loss') {
      throw new SliceMissingError(`${edit.set}#${edit.index} does not exist`);
    }
    const stamp = await tryOver({ ref, target, edit, stored }, dependencies);
    if (stamp !== undefined) return stamp;
  }
  throw new Error(`${edit.set}#${edit.index}: lost ${options.writeTriesMax} compare-and-sets`);
}

interface SliceWrite {
  readonly ref: SliceRef;
  readonly target: SliceTarget;
  readonly edit: SliceEdit;
  readonly stored: Slice | undefined;
}

/** One try over what this process saw last; undefined when the table has to be read. */
async function tryOverRemembered(
  write: Omit<SliceWrite, 'stored'>,
  dependencies: IngestDependencies,
): Promise<Stamp | undefined> {
  const stored = dependencies.processCache.slice(write.ref);
  if (stored === undefined || stored.stamp >= write.target.stamp) return undefined;
  const stamp = await tryOver({ ...write, stored }, dependencies);
  // A slice may not be left unwritten because of memory alone.
  return stamp === stored.stamp ? undefined : stamp;
}

/** One try over a slice as it was read; the stamp that stands then, or undefined when it was lost. */
async function tryOver(
  { ref, target, edit, stored }: SliceWrite,
  dependencies: IngestDependencies,
): Promise<Stamp | undefined> {
  if (stored !== undefined && stored.stamp >= target.stamp) return stored.stamp;
  const edited = editedSlice(stored, edit, target);
  if (edited === stored) return edited.stamp;
  const slice = await withRoomForTombstones(ref, edited, {
    nowMs: target.sentAtMs,
    dependencies,
  });
  if (slice === undefined) return undefined;
  const written = await writeFitting({ ref, slice, expected: stored?.stamp }, dependencies);
  dependencies.processCache.keepSlice(ref, written);
  return written?.stamp;
}

/** A slice after its edit; the very one that is stored where nothing is to be written. */
function editedSlice(stored: Slice | undefined, edit: SliceEdit, target: SliceTarget): Slice {
  const { objects = [], gone = [], older } = stored ?? {};
  const { buries = [] } = edit;
  const next = edit.edit(objects);
  if (stored !== undefined && next === undefined && buries.length === 0) return stored;
  const left = { objects, gone: joined(buries, gone) };
  const kept = next ?? objects;
  const remembered = tombstonesOf(left, kept, target.sentAtMs);
  return {
    stamp: target.stamp,
    objects: kept,
    ...(remembered.length === 0 ? {} : { gone: remembered }),
    ...(areOlderNeeded(older, target.sentAtMs) ? { older } : {}),
  };
}

/**
 * Tombstones of the pods that a slice no longer holds once these objects are its own, beside those of its former ones
 * that are still needed (S13). Only where the slice is written anyway: dropping one is not urgent.
 */
export function tombstonesOf(
  { objects, gone = [] }: Pick<Slice, 'objects' | 'gone'>,
  next: Slice['objects'],
  nowMs: number,
): readonly Tombstone[] {
  const living = new Set(next.map(({ object }) => object.uid));
  const left = objects.flatMap(({ object }) =>
    object.kind === 'Pod' && !living.has(object.uid) ? (tombstoneOf(object, nowMs) ?? []) : [],
  );
  const all = joined(left, gone);
  if (all.length === 0) return [];
  return keepTombstones(all, { nowMs, isLiving: (uid) => living.has(uid) });
}

/** The very list that was kept, where nothing comes to it: it need not be judged, nor encoded, again. */
function joined(added: readonly Tombstone[], kept: readonly Tombstone[]): readonly Tombstone[] {
  return added.length === 0 ? kept : [...added, ...kept];
}

/** The latest of the stamps of slices of one set; ZERO_STAMP when there is none. */
export function latestStamp(slices: readonly WrittenSlice[], of: SlicedSet): Stamp {
  const stamps = slices.flatMap(({ set, stamp }) => (set === of ? [stamp] : []));
  return stamps.reduce(laterStamp, ZERO_STAMP);
}

/**
 * The slice as it is to be written; undefined: another writer was faster. Tombstones that it has no room for move to an item of
 * their own (S13, ADR 0076): a rollout writes each slice dozens of times, and would write them with each pod that moves. First
 * the item, then the slice: what dies in between leaves some in both, which says the same twice. The item only ever gains, but
 * for what is over; its compare-and-set is on its version, so who slept loses. It stays until the next move, or until its
 * DaemonSet is removed.
 */
async function withRoomForTombstones(
  ref: SliceRef,
  slice: Slice,
  context: { readonly nowMs: number; readonly dependencies: IngestDependencies },
): Promise<Slice | undefined> {
  const { nowMs, dependencies } = context;
  const { gone = [], ...rest } = slice;
  if (gone.length <= dependencies.options.sliceTombstonesMax) return slice;
  const { view, processCache } = dependencies;
  const former = processCache.older(ref) ?? (await view.readOlderTombstones(ref)) ?? NONE;
  // Not even of pods that live: what this process remembers of the slice may be older than the item. Who reads leaves them out.
  const all = keepTombstones([...gone, ...former.gone], { nowMs, isLiving: () => false });
  const result = await view.writeOlderTombstones(ref, { version: former.version, gone: all });
  if (result === 'lost') {
    processCache.keepOlder(ref, undefined);
    return undefined;
  }
  const version = former.version + 1;
  processCache.keepOlder(ref, { version, gone: all });
  const goneAtMs = Math.max(...all.map((each) => each.goneAtMs));
  return { ...rest, older: { version, goneAtMs } };
}
