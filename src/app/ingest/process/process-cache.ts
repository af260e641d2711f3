/**
 * What a warm process remembers between messages: decoded slices, their older tombstones, names and registrations.
 *
 * A remembered slice is used only to save a read: the write still compares the stamp, so a process
 * that slept through other writers loses it and reads again (row 79); older tombstones likewise, by their version. Names are believed only for
 * the very stamp under which META says that the list last changed. Bounded by objects, oldest out
 * first. Keys hold the cluster's UID: nothing of one cluster answers for another (row 31).
 */
import type { ClusterId, ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { NameItem, OlderTombstones, Slice } from '../../../core/model/view-items.ts';
import type { SliceRef } from '../../../ports/stores/view-store.ts';

/** A cluster's DaemonSets as they were listed when the list last changed at `asOf`. */
export interface WarmNames {
  readonly asOf: Stamp;
  readonly byUid: ReadonlyMap<Uid, NameItem>;
}

/** A registration, and when it was read (monotonic). */
interface WarmRegistration {
  readonly registration: ClusterRegistration;
  readonly readAtMs: number;
}

/** Memory shared by all clusters of one process. */
export class IngestProcessCache {
  readonly names = new Map<ClusterUid, WarmNames>();
  readonly registrations = new Map<ClusterId, WarmRegistration>();
  private readonly slices = new Map<string, Slice>();
  private readonly olderTombstones = new Map<string, OlderTombstones>();
  private readonly objectsMax: number;
  private objects = 0;

  constructor(objectsMax: number) {
    this.objectsMax = objectsMax;
  }

  /** The slice as this process last read or wrote it. */
  slice(ref: SliceRef): Slice | undefined {
    return this.slices.get(keyOf(ref));
  }

  /** Remembers a slice; forgets it when undefined. */
  keepSlice(ref: SliceRef, slice: Slice | undefined): void {
    this.keep(this.slices, keyOf(ref), slice);
  }

  /** Older tombstones of a slice as this process last read or wrote them. */
  older(ref: SliceRef): OlderTombstones | undefined {
    return this.olderTombstones.get(keyOf(ref));
  }

  /** Remembers older tombstones; forgets them when undefined. */
  keepOlder(ref: SliceRef, older: OlderTombstones | undefined): void {
    this.keep(this.olderTombstones, keyOf(ref), older);
  }

  /** Slices leave first: without one that it needs, a message reads it. */
  private keep<Kept extends Slice | OlderTombstones>(
    into: Map<string, Kept>,
    key: string,
    kept: Kept | undefined,
  ): void {
    this.forget(into, key);
    if (kept === undefined) return;
    into.set(key, kept);
    this.objects += sizeOf(kept);
    for (const from of [this.slices, this.olderTombstones]) {
      for (const oldest of from.keys()) {
        if (this.objects <= this.objectsMax) return;
        this.forget(from, oldest);
      }
    }
  }

  private forget(from: Map<string, Slice | OlderTombstones>, key: string): void {
    const former = from.get(key);
    if (former === undefined) return;
    from.delete(key);
    this.objects -= sizeOf(former);
  }
}

function sizeOf(kept: Slice | OlderTombstones): number {
  const objects = 'objects' in kept ? kept.objects.length : 0;
  return objects + (kept.gone?.length ?? 0) + 1;
}

function keyOf(ref: SliceRef): string {
  return `${ref.clusterUid} ${ref.set} ${ref.index}`;
}

/** A fresh memory; one per process. `objectsMax` bounds the projections that it holds. */
export function createIngestProcessCache(
  options: { readonly objectsMax?: number } = {},
): IngestProcessCache {
  return new IngestProcessCache(options.objectsMax ?? 150_000);
}
