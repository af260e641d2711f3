/**
 * DaemonSets that a snapshot covers and does not hold were deleted while nobody watched (row 82): they are swept.
 *
 * Slices, object and name are emptied under this stamp, never removed at once, so that a late process finds something newer
 * than what it holds; the items are removed by a manifest of a later epoch (protocol 18). The name goes last and some go at a
 * time: however many there are, a delivery that runs out of time leaves fewer to the next one.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { NameItem } from '../../../core/model/view-items.ts';
import { nameKeyOf } from '../../../core/projections/set-hash.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';
import { writeDaemonSets } from '../slices/daemon-set-writes.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { SLICE_COUNT_MAX } from '../slices/former-uids.ts';
import { writeNames } from '../slices/names.ts';
import { replacing, type SliceEdit } from '../slices/slice-edits.ts';
import { slicesOfDaemonSet } from '../slices/snapshot-sums.ts';
import { writeSlices, type SliceTarget, type WrittenSlice } from '../slices/write-slices.ts';

/** So many are swept before the next are begun. */
const AT_ONCE = 50;

export interface Swept {
  readonly slices: readonly WrittenSlice[];
  readonly nameItems: readonly NameItem[];
}

/** Sweeps what stands under these names; those of `arriving` are another one's by now, whose message writes them. */
export async function sweep(
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

/** Empties a slice, if there is one. */
export function emptied(set: SlicedSet, index: number): SliceEdit {
  return { ...replacing({ set, index, objects: [] }, { rewritesAll: false }), ifMissing: 'leave' };
}

/** Empties every slice that a DaemonSet may have. */
export function emptying(uid: Uid): readonly SliceEdit[] {
  return slicesOfDaemonSet(uid, SLICE_COUNT_MAX).map(({ set, index }) => emptied(set, index));
}
