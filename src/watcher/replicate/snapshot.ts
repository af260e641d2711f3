/**
 * One snapshot in progress: which slices still have to be sent whole, and what goes into the next ones.
 *
 * Slices are built from the newest state at the moment they are sent, so a change to an object whose
 * slice is pending is folded into it. A change to a slice that was sent goes out as a delta, in the same
 * order of seq (protocol 16). Sets born while the snapshot runs are not pending: they come as deltas, as
 * they would without a snapshot. Every slice of a live set is sent, even if empty (protocol 18).
 */
import { sliceIndexOf } from '../../core/projections/set-hash.ts';
import type { SetId, SnapshotSlice } from '../../core/model/watcher-message.ts';
import type { PendingSlices, SliceMember } from './outbox.ts';
import type { ObjectStore, Tracked } from '../project/store.ts';

/** Whole slices for one message; nothing counts as sent before `commit`. */
export interface SliceBatch {
  readonly slices: readonly SnapshotSlice[];
  readonly members: readonly SliceMember[];
  readonly chars: number;
}

interface SliceRef {
  readonly set: SetId;
  readonly index: number;
}

/** What a slice costs beside its objects, and an object beside its text. For sizing only. */
const SLICE_OVERHEAD_CHARS = 80;
const OBJECT_OVERHEAD_CHARS = 80;
/** Ingest writes each slice of a message as one item, within its time-out. */
const SLICES_PER_MESSAGE_MAX = 64;

/** What is left of one snapshot. */
export class Snapshot implements PendingSlices {
  readonly sliceCount: number;
  readonly announcedSeq: number;
  readonly #store: ObjectStore;
  readonly #slices = new Map<string, SliceRef>();
  readonly #daemonSets: Set<Tracked>;
  #portion = 0;

  constructor(store: ObjectStore, options: { sliceCount: number; announcedSeq: number }) {
    this.#store = store;
    this.sliceCount = options.sliceCount;
    this.announcedSeq = options.announcedSeq;
    this.#daemonSets = new Set(store.objects('DaemonSet'));
    for (const set of store.liveSets()) {
      if (set === 'daemonsets') continue;
      const count = set.startsWith('revisions/') ? 1 : this.sliceCount;
      for (let index = 0; index < count; index += 1) {
        this.#slices.set(refKey(set, index), { set, index });
      }
    }
  }

  isPending(tracked: Tracked, set: SetId): boolean {
    if (set === 'daemonsets') return this.#daemonSets.has(tracked);
    return this.#slices.has(refKey(set, this.#indexOf(tracked, set)));
  }

  /** True when only the manifest is left to send. */
  get isThrough(): boolean {
    return this.#slices.size === 0 && this.#daemonSets.size === 0;
  }

  /** Slices for one message of about `charsMax`: at least one. Nothing is marked as sent. */
  nextBatch(charsMax: number): SliceBatch {
    return this.#daemonSets.size > 0 ? this.#portionOf(charsMax) : this.#slicesOf(charsMax);
  }

  /** The batch was frozen into a message: changes to its slices are deltas from now on. */
  commit(batch: SliceBatch): void {
    for (const { set, index } of batch.slices) this.#slices.delete(refKey(set, index));
    for (const { tracked } of batch.members) this.#daemonSets.delete(tracked);
    if (batch.slices[0]?.set === 'daemonsets') this.#portion += 1;
    if (this.#daemonSets.size === 0) return;
    // Those that vanished before their portion need none: the manifest will not name them.
    for (const tracked of this.#daemonSets) {
      if (tracked.slim === null) this.#daemonSets.delete(tracked);
    }
  }

  #indexOf(tracked: Tracked, set: SetId): number {
    return set.startsWith('revisions/') ? 0 : sliceIndexOf(tracked.name, this.sliceCount);
  }

  #portionOf(charsMax: number): SliceBatch {
    const members: SliceMember[] = [];
    let chars = SLICE_OVERHEAD_CHARS;
    for (const tracked of this.#daemonSets) {
      const member = memberOf(tracked, 'daemonsets');
      if (member === undefined) continue;
      const size = charsOf(tracked);
      if (members.length > 0 && chars + size > charsMax) break;
      chars += size;
      members.push(member);
    }
    return { slices: [sliceOf('daemonsets', this.#portion, members)], members, chars };
  }

  #slicesOf(charsMax: number): SliceBatch {
    const slices: SnapshotSlice[] = [];
    const members: SliceMember[] = [];
    const bySlice = new Map<string, readonly Tracked[]>();
    let chars = 0;
    for (const [key, { set, index }] of this.#slices) {
      if (slices.length >= SLICES_PER_MESSAGE_MAX) break;
      if (!bySlice.has(key)) this.#sortInto(bySlice, set);
      const tracked = bySlice.get(key) ?? [];
      const size = tracked.reduce((sum, one) => sum + charsOf(one), SLICE_OVERHEAD_CHARS);
      if (slices.length > 0 && chars + size > charsMax) break;
      const inSlice = tracked.flatMap((one) => memberOf(one, set) ?? []);
      slices.push(sliceOf(set, index, inSlice));
      for (const member of inSlice) members.push(member);
      chars += size;
    }
    return { slices, members, chars };
  }

  /** One walk over a set for all its slices. */
  #sortInto(bySlice: Map<string, readonly Tracked[]>, set: SetId): void {
    const count = set.startsWith('revisions/') ? 1 : this.sliceCount;
    const slices = Array.from({ length: count }, (): Tracked[] => []);
    for (const tracked of this.#store.members(set)) {
      slices[this.#indexOf(tracked, set)]?.push(tracked);
    }
    for (const [index, members] of slices.entries()) bySlice.set(refKey(set, index), members);
  }
}

function refKey(set: SetId, index: number): string {
  return `${set}#${String(index)}`;
}

function charsOf(tracked: Tracked): number {
  return tracked.chars + OBJECT_OVERHEAD_CHARS;
}

function memberOf(tracked: Tracked, set: SetId): SliceMember | undefined {
  const membership = tracked.sets.find((one) => one.set === set);
  if (tracked.slim === null || membership === undefined) return undefined;
  return { tracked, projection: tracked.slim.projection, membership };
}

function sliceOf(set: SetId, index: number, members: readonly SliceMember[]): SnapshotSlice {
  const objects = members.map(({ projection, membership }) => ({
    object: projection,
    hash: membership.hash,
  }));
  return { set, index, objects };
}
