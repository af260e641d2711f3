/**
 * One set of slices from the table, beside what a warm process has of it.
 *
 * A stamp is written once, so a slice of a stamp that memory has is the one in memory. A slice newer than its position moves:
 * `ingest` is at work (protocol 2). So does one whose older tombstones are not those that it refers to.
 */
import { compareStamps, type Stamp } from '../../../core/model/position.ts';
import type { OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import type { SlicedSet, ViewReader } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import { warmKey } from '../process/process-cache.ts';
import type { SetContent, WarmSet, WarmSlice } from '../process/process-cache.ts';
import type { StoredInputs } from './stored-inputs.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import { areOlderNeeded } from '../../../core/pod/tombstones.ts';

/** What slices are read with. */
export type Readers = Pick<StepDependencies, 'cache'> & { readonly view: ViewReader };

/** Which set, and when its position says that it last changed. */
export interface SetRequest {
  readonly set: SlicedSet;
  readonly sliceCount: number;
  readonly changed: Stamp;
}

/** A stamp that was above what should have covered it when it was read. */
export interface StampAhead {
  readonly stamp: Stamp;
  /** Whose slice bears it; `meta`: an item that META itself covers. */
  readonly of: SlicedSet | 'meta';
}

/** Something moved meanwhile; `ahead`: by a stamp that what covers it does not reach yet. */
export interface Moving {
  readonly kind: 'moving';
  readonly ahead?: StampAhead;
}

export type SetRead =
  | ({ readonly kind: 'whole' } & WarmSet)
  | Moving
  | { readonly kind: 'missing'; readonly set: string };

export async function loadSet(
  {
    ref: { clusterUid },
    meta: { lastSentAtMs },
  }: {
    readonly ref: Pick<StoredInputs['ref'], 'clusterUid'>;
    readonly meta: Pick<StoredInputs['meta'], 'lastSentAtMs'>;
  },
  request: SetRequest,
  readers: Readers,
): Promise<SetRead> {
  const { set, sliceCount, changed } = request;
  const { view, cache } = readers;
  const { sets } = cache;
  const key = warmKey({ clusterUid, set }, sliceCount);
  const former = sets.last(key);
  const indexes = Array.from({ length: sliceCount }, (_, index) => index);
  const found = await Promise.all(
    indexes.map((index) => view.readSlice({ clusterUid, set, index })),
  );
  const slices: Slice[] = [];
  for (const each of found) {
    if (each === undefined) return { kind: 'missing', set };
    const { stamp } = each;
    if (compareStamps(stamp, changed) > 0) return { kind: 'moving', ahead: { stamp, of: set } };
    slices.push(each);
  }
  const older = await readOlder({ clusterUid, set, nowMs: lastSentAtMs }, slices, { former, view });
  if (older === undefined) return { kind: 'moving' };
  // Decoded only now: a set that is being written is read again.
  const warm = { changed, ...decoded({ slices, older }, former) };
  sets.put(key, warm);
  return { kind: 'whole', ...warm };
}

/** What was read, decoded where memory has it not. */
function decoded(
  { slices, older }: { readonly slices: readonly Slice[]; readonly older: OlderFound },
  former: WarmSet | undefined,
): Omit<WarmSet, 'changed'> {
  const warm = slices.map((slice, index) => {
    const known = former?.slices[index];
    return known?.stamp === slice.stamp ? known : contentOf(slice, older.get(index));
  });
  return { slices: warm, ...joined(warm) };
}

function contentOf(
  { stamp, objects, gone = [] }: Slice,
  older: OlderTombstones | undefined,
): WarmSlice {
  const content = { stamp, objects: objects.map(({ object }) => object) };
  if (older === undefined) return { ...content, gone };
  return { ...content, gone: [...gone, ...older.gone], older };
}

function joined(slices: readonly WarmSlice[]): SetContent {
  const [first, ...others] = slices;
  if (first !== undefined && others.length === 0) {
    const { objects, gone } = first;
    return { objects, gone };
  }
  return {
    objects: slices.flatMap(({ objects }) => objects),
    gone: slices.flatMap(({ gone }) => gone),
  };
}

// Older tombstones (S13, ADR 0076): a slice refers to their item by a version, which that item has at least. An item that
// is older or missing was damaged or restored, and a name could come back: the set counts as moving, until ten minutes
// after the last of them by the times of the view's messages.

export type OlderFound = ReadonlyMap<number, OlderTombstones>;

/** Reads those that are still needed of slices that were read; undefined where an item is not what its slice refers to. */
async function readOlder(
  of: {
    readonly clusterUid: ClusterUid;
    readonly set: SlicedSet;
    /** The time of the last message that the view was told. */
    readonly nowMs: number;
  },
  slices: readonly Slice[],
  known: {
    readonly former: WarmSet | undefined;
    readonly view: Pick<ViewReader, 'readOlderTombstones'>;
  },
): Promise<OlderFound | undefined> {
  const { clusterUid, set, nowMs } = of;
  const wanted = slices.flatMap(({ older }, index) => {
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
