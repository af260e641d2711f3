/**
 * One set of slices from the table, beside what a warm process has of it; of a set that moved little, stamps are read first.
 *
 * A stamp is written once, so a slice of a stamp that memory has is the one in memory. A slice newer than its position moves:
 * `ingest` is at work (protocol 2). So does one whose older tombstones are not those that it refers to.
 */
import { compareStamps } from '../../../core/model/position.ts';
import type { Stamp } from '../../../core/model/position.ts';
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

/** What reading a set came to. */
export type SetRead =
  | ({ readonly kind: 'whole' } & WarmSet)
  | Moving
  | { readonly kind: 'missing'; readonly set: string };

/**
 * Of a set of which less moved the last time, stamps are read first. That takes one more turn, which of four slices one
 * is not worth: a join would wait for it.
 */
const LITTLE_SHARE = 1 / 4;

type Loading = SetRequest & { readonly clusterUid: StoredInputs['ref']['clusterUid'] };

/** Reads a set, and keeps it in warm memory. */
export async function loadSet(
  { ref: { clusterUid }, meta: { lastSentAtMs } }: Pick<StoredInputs, 'ref' | 'meta'>,
  request: SetRequest,
  readers: Readers,
): Promise<SetRead> {
  const { set, sliceCount, changed } = request;
  const { view, cache } = readers;
  const { sets } = cache;
  const key = warmKey({ clusterUid, set }, sliceCount);
  const former = sets.last(key);
  const loading = { ...request, clusterUid };
  const hasMovedLittle =
    former !== undefined && sliceCount > 1 && former.movedCount < sliceCount * LITTLE_SHARE;
  const found = hasMovedLittle
    ? await readMoved(loading, former, view)
    : await readAll(loading, view);
  for (const each of found) {
    if (each === undefined) return { kind: 'missing', set };
    const { stamp } = each;
    if (compareStamps(stamp, changed) > 0) return { kind: 'moving', ahead: { stamp, of: set } };
  }
  const older = await readOlder({ clusterUid, set, nowMs: lastSentAtMs }, found, { former, view });
  if (older === undefined) return { kind: 'moving' };
  // Decoded only now: a set that is being written is read again.
  const warm = decoded({ found, older }, former, changed);
  if (warm === undefined) return { kind: 'moving' };
  sets.put(key, warm);
  return { kind: 'whole', ...warm };
}

/** What was found, decoded where memory has it not; undefined: of a slice that moved there is its stamp alone. */
function decoded(
  { found, older }: { readonly found: readonly (Found | undefined)[]; readonly older: OlderFound },
  former: WarmSet | undefined,
  changed: Stamp,
): WarmSet | undefined {
  const slices: WarmSlice[] = [];
  let movedCount = 0;
  for (const [index, each] of found.entries()) {
    const known = former?.slices[index];
    if (known !== undefined && known.stamp === each?.stamp) {
      slices.push(known);
      continue;
    }
    if (each?.slice === undefined) return undefined;
    slices.push(contentOf(each.slice, older.get(index)));
    movedCount += 1;
  }
  return { changed, slices, movedCount, ...joined(slices) };
}

function readAll(loading: Loading, view: ViewReader): Promise<readonly (Found | undefined)[]> {
  const indexes = Array.from({ length: loading.sliceCount }, (_, index) => index);
  return Promise.all(indexes.map((index) => readOne(loading, index, view)));
}

async function readOne(
  { clusterUid, set }: Loading,
  index: number,
  view: ViewReader,
): Promise<Found | undefined> {
  const slice = await view.readSlice({ clusterUid, set, index });
  return slice === undefined ? undefined : { stamp: slice.stamp, slice };
}

/** Of a large set the slices are most of what a run reads, and of a pod that changed one is another. */
async function readMoved(
  loading: Loading,
  former: WarmSet,
  view: ViewReader,
): Promise<readonly (Found | undefined)[]> {
  const stamps = await view.readSliceStamps(loading);
  const isWhole = stamps.every(
    (stamp) => stamp !== undefined && compareStamps(stamp, loading.changed) <= 0,
  );
  return Promise.all(
    stamps.map(async (stamp, index): Promise<Found | undefined> => {
      if (stamp === undefined) return undefined;
      const isKnown = former.slices[index]?.stamp === stamp;
      return isKnown || !isWhole ? { stamp } : readOne(loading, index, view);
    }),
  );
}

/** Decodes a slice. */
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

/** A slice as it was found: its stamp, and itself where it was read. */
export interface Found {
  readonly stamp: Stamp;
  readonly slice?: Slice;
}

/** Older tombstones by the index of their slice. */
export type OlderFound = ReadonlyMap<number, OlderTombstones>;

/** Reads those that are still needed of slices that were read; undefined where an item is not what its slice refers to. */
async function readOlder(
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
