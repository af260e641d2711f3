/**
 * Tombstones that a slice has no room for move to an item of their own (S13, ADR 0076).
 *
 *   slice  pods, few tombstones ──(one more than fits)──▶ 1. item of older ones: those of before, and all of the slice
 *                                                         2. slice: none, and the version of that item
 *
 * A rollout writes each slice dozens of times, and a tombstone stands for ten minutes: in the slice it would be written
 * with each pod that moves. First the item, then the slice: what dies in between leaves some in both, which says the same
 * twice. The item only ever gains, but for what is over; its compare-and-set is on its version, so who slept loses.
 * Nobody needs it ten minutes after its last; it stays until the next move, or until its DaemonSet is removed.
 */
import type { OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import { keepTombstones } from '../../../core/pod/tombstones.ts';
import type { SliceRef } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';

const NONE: OlderTombstones = { version: 0, gone: [] };

/** The slice as it is to be written, its tombstones moved where they are too many; undefined: another writer was faster. */
export async function withRoomForTombstones(
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
