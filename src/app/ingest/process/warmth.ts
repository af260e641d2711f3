/**
 * What a warm process remembers between messages: decoded slices, names and registrations.
 *
 * A remembered slice is used only to save a read: the write still compares the stamp, so a process
 * that slept through other writers loses it and reads again (row 79). Names are believed only for
 * the very stamp under which META says that the list last changed. Bounded by objects, oldest out
 * first. Keys hold the cluster's UID: nothing of one cluster answers for another (row 31).
 */
import type { ClusterId, ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { NameItem, Slice } from '../../../core/model/view-items.ts';
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
export class IngestWarmth {
  readonly names = new Map<ClusterUid, WarmNames>();
  readonly registrations = new Map<ClusterId, WarmRegistration>();
  private readonly slices = new Map<string, Slice>();
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
    const key = keyOf(ref);
    const former = this.slices.get(key);
    if (former !== undefined) this.forget(key, former);
    if (slice === undefined) return;
    this.slices.set(key, slice);
    this.objects += sizeOf(slice);
    for (const [oldestKey, oldest] of this.slices) {
      if (this.objects <= this.objectsMax) break;
      this.forget(oldestKey, oldest);
    }
  }

  private forget(key: string, slice: Slice): void {
    this.slices.delete(key);
    this.objects -= sizeOf(slice);
  }
}

function sizeOf({ objects, gone = [] }: Slice): number {
  return objects.length + gone.length + 1;
}

function keyOf(ref: SliceRef): string {
  return `${ref.clusterUid} ${ref.set} ${ref.index}`;
}

/** A fresh memory; one per process. `objectsMax` bounds the projections that it holds. */
export function createIngestWarmth(options: { readonly objectsMax?: number } = {}): IngestWarmth {
  return new IngestWarmth(options.objectsMax ?? 150_000);
}
