import type { Stamp } from '../../../core/model/position.ts';
import type { OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import type { SlicedSet, ViewReader } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { WarmSet } from '../process/process-cache.ts';
import type { StoredInputs } from './stored-inputs.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
/** What slices are read with. */
export type Readers = Pick<StepDependencies, 'cache'> & {
  readonly view: ViewReader;
};
/** Which set, and when its position says that it last changed. */
export interface SetRequest {
  readonly set: SlicedSet;
  readonly sliceCount: number;
  readonly changed: Stamp;
}
/** A stamp that was above what should have covered it when it was read. */
export interface StampAhead {
  readonly stamp: Stamp;
  /** Whose slice bears it; `basis`: an item that META itself covers. */
  readonly of: SlicedSet | 'meta';
}
/** Something moved meanwhile; `ahead`: by a stamp that what covers it does not reach yet. */
export interface Moving {
  readonly kind: 'moving';
  readonly ahead?: StampAhead;
}
/** What reading a set came to. */
export type SetRead =
  | ({
      readonly kind: 'whole';
    } & WarmSet)
  | Moving
  | {
      readonly kind: 'missing';
      readonly set: string;
    };
/** Reads a set, and keeps it in warm memory. */
export declare function loadSet(
  {
    ref: { clusterUid },
    meta: { lastSentAtMs },
  }: Pick<StoredInputs, 'ref' | 'meta'>,
  request: SetRequest,
  readers: Readers,
): Promise<SetRead>;
/** A slice as it was found: its stamp, and itself where it was read. */
export interface Found {
  readonly stamp: Stamp;
  readonly slice?: Slice;
}
/** Older tombstones by the index of their slice. */
export type OlderFound = ReadonlyMap<number, OlderTombstones>;
/** Reads those that are still needed of slices that were read; undefined where an item is not what its slice refers to. */
export declare function readOlder(
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
): Promise<OlderFound | undefined>;
