/**
 * One snapshot in progress: which slices still have to be sent whole, and what goes into the next ones (protocol 16,
 * 18).
 *
 *   portions of DaemonSets, in the order of their names ─▶ slices of every set that is live by then
 *
 * Slices are built from the newest state when they are sent, so a change to a pending one is folded into it; to one
 * that was sent it is a delta. What a portion covers by name and does not hold does not exist, so nothing lists all
 * DaemonSets (ADR 0079).
 */
import { defined } from '@rollcall/base/defined.ts';
import {
  isInRange,
  nameKeyOf,
  sliceIndexIn,
  slicesOfSet,
} from '../../core/projections/set-hash.ts';
import type { NameRange, SetId, SnapshotSlice } from '../../core/model/watcher-message.ts';
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

/** Size of a slice beside its objects, and of an object beside its text. For sizing only. */
const SLICE_OVERHEAD_CHARS = 80;
const OBJECT_OVERHEAD_CHARS = 80;
/** Ingest writes each slice of a message as one item, within its time-out. */
const SLICES_PER_MESSAGE_MAX = 64;

export class Snapshot implements PendingSlices {
  readonly sliceCount: number;
  readonly announcedSeq: number;
  readonly #store: ObjectStore;
  readonly #slices = new Map<string, SliceRef>();
  readonly #known = new Set<SetId>();
  /** The names that portions still have to cover; undefined: they are through, and the slices are fixed. */
  #ahead: NameRange | undefined = {};
  #portion = 0;

  constructor(store: ObjectStore, options: { sliceCount: number; announcedSeq: number }) {
    this.#store = store;
    this.sliceCount = options.sliceCount;
    this.announcedSeq = options.announcedSeq;
  }

  isPending(tracked: Tracked, set: SetId): boolean {
    if (this.#ahead !== undefined) {
      return set !== 'daemonsets' || isInRange(this.#ahead, nameKeyOf(tracked));
    }
    return this.#slices.has(refKey(set, this.#indexOf(tracked, set)));
  }

  isKnown(set: SetId): boolean {
    return this.#ahead !== undefined || this.#known.has(set);
  }

  /** True when only the manifest is left to send. */
  get isThrough(): boolean {
    return this.#ahead === undefined && this.#slices.size === 0;
  }

  /** Slices for one message of about `charsMax`: at least one. Nothing is marked as sent. */
  nextBatch(charsMax: number): SliceBatch {
    return this.#ahead === undefined
      ? this.#slicesOf(charsMax)
      : this.#portionOf(this.#ahead, charsMax);
  }

  /** The batch was frozen into a message: changes to its slices are deltas from now on. */
  commit(batch: SliceBatch): void {
    for (const { set, index, covers } of batch.slices) {
      if (set !== 'daemonsets') this.#slices.delete(refKey(set, index));
      else this.#commitPortion(covers);
    }
  }

  #commitPortion(covers: NameRange | undefined): void {
    this.#portion += 1;
    const upTo = covers?.upTo;
    this.#ahead = upTo === undefined ? undefined : { after: upTo };
    if (this.#ahead !== undefined) return;
    for (const set of this.#store.liveSets()) {
      this.#known.add(set);
      if (set === 'daemonsets') continue;
      const count = slicesOfSet(set, this.sliceCount);
      for (let index = 0; index < count; index += 1) {
        this.#slices.set(refKey(set, index), { set, index });
      }
    }
  }

  #indexOf(tracked: Tracked, set: SetId): number {
    return sliceIndexIn(set, tracked.name, this.sliceCount);
  }

  #portionOf(ahead: NameRange, charsMax: number): SliceBatch {
    const members: SliceMember[] = [];
    let chars = SLICE_OVERHEAD_CHARS;
    let upTo: string | undefined;
    for (const { key, member } of this.#daemonSetsIn(ahead)) {
      const size = charsOf(member.tracked);
      if (members.length > 0 && chars + size > charsMax) {
        const { after } = ahead;
        const covers = { ...defined({ after }), ...defined({ upTo }) };
        return { slices: [portionOf(this.#portion, covers, members)], members, chars };
      }
      chars += size;
      members.push(member);
      upTo = key;
    }
    // The last one covers all names that are left, so that those beyond the last DaemonSet are known to be gone.
    return { slices: [portionOf(this.#portion, ahead, members)], members, chars };
  }

  #daemonSetsIn(
    range: NameRange,
  ): readonly { readonly key: string; readonly member: SliceMember }[] {
    const found: { key: string; member: SliceMember }[] = [];
    for (const tracked of this.#store.objects('DaemonSet')) {
      const key = nameKeyOf(tracked);
      const member = isInRange(range, key) ? memberOf(tracked, 'daemonsets') : undefined;
      if (member !== undefined) found.push({ key, member });
    }
    return found.sort((left, right) => (left.key < right.key ? -1 : 1));
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
    const count = slicesOfSet(set, this.sliceCount);
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

function portionOf(
  index: number,
  covers: NameRange,
  members: readonly SliceMember[],
): SnapshotSlice {
  return { ...sliceOf('daemonsets', index, members), covers };
}

function sliceOf(set: SetId, index: number, members: readonly SliceMember[]): SnapshotSlice {
  const objects = members.map(({ projection, membership }) => ({
    object: projection,
    hash: membership.hash,
  }));
  return { set, index, objects };
}
