/**
 * Holds the changes to send, as a map by object: the newest state against what was last sent (design 2, protocol 19, 21).
 *
 * An outage of any length costs memory for objects, not for events. "Sent" means frozen into a message of this epoch:
 * that is repeated until accepted, or everything is sent again. While a snapshot runs, a membership whose slice was not
 * sent yet is
 * *pending*: changes to it go into the slice when that is built, never into a delta.
 */
import {
  EMPTY_HASHES,
  addHash,
  sliceIndexOf,
  subtractHash,
} from '../../core/projections/set-hash.ts';
import type { Projection, WatchedKind } from '../../core/model/projections.ts';
import type { Delta, Membership, SetHashes, SetId } from '../../core/model/watcher-message.ts';
import type { FlushWidth } from './flush-schedule.ts';
import { isSameMembership } from '../project/membership.ts';
import type { Tracked } from '../project/store.ts';

/** Tells which memberships a running snapshot will still send whole, and of which sets it sends slices at all. */
export interface PendingSlices {
  isPending(tracked: Tracked, set: SetId): boolean;
  isKnown(set: SetId): boolean;
}

/** Deltas chosen for one message; nothing counts as sent before `commit`. */
interface DeltaBatch {
  readonly deltas: readonly Delta[];
  /** Sets of which nothing was sent since the announcement. */
  readonly begun: ReadonlySet<SetId>;
  /** True if this batch is the last one of the flush. */
  readonly isLast: boolean;
  readonly hashes: SetHashes;
  /** Objects of the deltas, in their order. */
  readonly tracked: readonly Tracked[];
  readonly chars: number;
}

export interface SliceMember {
  readonly tracked: Tracked;
  readonly projection: Projection;
  readonly membership: Membership;
}

const NONE: readonly Membership[] = [];
/** Size of a delta beside its projection: names, uid, hashes. For sizing only. */
const DELTA_OVERHEAD_CHARS = 250;

/** The newest unsent state per object. */
export class Outbox {
  /** Objects whose state differs from what was sent, not part of the flush that is under way. */
  #dirty = new Set<Tracked>();
  /** The flush under way. An object that changes again meanwhile is sent in its newest state. */
  #flushing = new Set<Tracked>();
  #hashes: SetHashes = EMPTY_HASHES;
  /** Those that deltas began since the announcement. */
  readonly #begun = new Set<SetId>();
  #pending: PendingSlices | undefined;
  /** Of the snapshot that was announced last, also once it is closed. */
  #isOfSnapshot: (set: SetId) => boolean = () => false;

  /** The object's state or sets changed. Answers whether something is to be sent for it now. */
  note(tracked: Tracked): 'dirty' | 'clean' {
    const isClean = isSameMembership(this.#wanted(tracked), tracked.sent);
    if (this.#flushing.has(tracked)) {
      if (!isClean) return 'dirty';
      this.#flushing.delete(tracked);
      return 'clean';
    }
    if (isClean) this.#dirty.delete(tracked);
    else this.#dirty.add(tracked);
    return isClean ? 'clean' : 'dirty';
  }

  get size(): number {
    return this.#dirty.size + this.#flushing.size;
  }

  /** The slices that the flush under way touches: its cost to apply. */
  widthOf(sliceCount: number, sizeOf: (set: SetId) => number): FlushWidth {
    const slices = new Set<string>();
    let objects = 0;
    for (const tracked of this.#flushing) {
      for (const { set } of [...this.#wanted(tracked), ...tracked.sent]) {
        const isAlone = set === 'daemonsets';
        const index = isAlone ? tracked.uid : sliceIndexOf(tracked.name, sliceCount);
        const id = `${set}#${String(index)}`;
        if (slices.has(id)) continue;
        slices.add(id);
        objects += isAlone ? 1 : sizeOf(set) / sliceCount;
      }
    }
    return { slices: slices.size, objects };
  }

  get hashes(): SetHashes {
    return this.#hashes;
  }

  /** True while deltas of the flush under way are left. */
  get isFlushing(): boolean {
    return this.#flushing.size > 0;
  }

  /** Fixes what the coming cut covers: everything that waits now. DaemonSets go first. */
  beginFlush(): void {
    const waiting = [...this.#flushing, ...this.#dirty];
    const isOwner = (tracked: Tracked): boolean => tracked.of === 'DaemonSet';
    const others = waiting.filter((tracked) => !isOwner(tracked));
    this.#flushing = new Set([...waiting.filter(isOwner), ...others]);
    this.#dirty = new Set();
  }

  /** Chooses deltas of the flush for one message of about `charsMax`; at least one if any is left. */
  nextBatch(charsMax: number, deltasMax: number): DeltaBatch {
    const deltas: Delta[] = [];
    const tracked: Tracked[] = [];
    const begun = new Set<SetId>();
    let hashes = this.#hashes;
    let chars = 0;
    for (const one of this.#flushing) {
      const wanted = this.#wanted(one);
      const size = DELTA_OVERHEAD_CHARS + (wanted.length > 0 ? one.chars : 0);
      if (deltas.length > 0 && (chars + size > charsMax || deltas.length >= deltasMax)) break;
      chars += size;
      hashes = replaceHashes(hashes, one.of, { former: one.sent, next: wanted });
      deltas.push(deltaOf(one, wanted));
      for (const set of this.#begunBy(one, wanted)) begun.add(set);
      tracked.push(one);
    }
    const isLast = tracked.length === this.#flushing.size;
    return { deltas, begun, isLast, hashes, tracked, chars };
  }

  /** The batch chosen last was frozen into a message: it counts as sent. */
  commitBatch(batch: DeltaBatch): void {
    for (const tracked of batch.tracked) {
      const next = this.#wanted(tracked);
      this.#flushing.delete(tracked);
      tracked.sent = next;
      noteSentNode(tracked, next.length === 0 ? undefined : tracked.slim?.projection);
    }
    for (const set of batch.begun) this.#begun.add(set);
    this.#hashes = batch.hashes;
  }

  /** An announcement was frozen: nothing counts as sent any more (protocol 16). */
  startSnapshot(objects: Iterable<Tracked>, pending: PendingSlices): void {
    // Objects that are gone have no slice to be in, so a snapshot needs no delta for them.
    for (const tracked of objects) tracked.sent = NONE;
    for (const tracked of [...this.#dirty, ...this.#flushing]) tracked.sent = NONE;
    this.#dirty.clear();
    this.#flushing.clear();
    this.#begun.clear();
    this.#hashes = EMPTY_HASHES;
    this.#pending = pending;
    this.#isOfSnapshot = (set) => pending.isKnown(set);
  }

  /** Members of a slice were frozen into a message, each in its newest state. */
  commitSlice(members: Iterable<SliceMember>): void {
    for (const { tracked, membership, projection } of members) {
      noteSentNode(tracked, projection);
      // Mostly the one set it stands in: held once. A spread keeps room for sixteen more, for each of ten thousand pods.
      const isOnly = tracked.sent.length === 0 && tracked.sets.length === 1;
      const isShared = isOnly && tracked.sets[0] === membership;
      const next = isShared ? tracked.sets : tracked.sent.concat(membership);
      tracked.sent = next;
      this.#hashes = replaceHashes(this.#hashes, tracked.of, { former: NONE, next: [membership] });
    }
  }

  /** The snapshot is closed, or given up: every change is a delta again. */
  endSnapshot(): void {
    this.#pending = undefined;
  }

  #wanted(tracked: Tracked): readonly Membership[] {
    const pending = this.#pending;
    if (pending === undefined) return tracked.sets;
    if (!tracked.sets.some(({ set }) => pending.isPending(tracked, set))) return tracked.sets;
    return tracked.sets.filter(({ set }) => !pending.isPending(tracked, set));
  }

  /** A DaemonSet that comes begins its sets, so that they exist, even if empty (protocol 18). */
  #begunBy({ of, uid, sent }: Tracked, wanted: readonly Membership[]): readonly SetId[] {
    if (of === 'DaemonSet' && (sent.length > 0 || wanted.length === 0)) return [];
    const sets: readonly SetId[] =
      of === 'DaemonSet' ? [`pods/${uid}`, `revisions/${uid}`] : wanted.map(({ set }) => set);
    return sets.filter((set) => !this.#begun.has(set) && !this.#isOfSnapshot(set));
  }
}

/** Node changes are compared with it; a pod's is not kept, as there are ten thousands. */
function noteSentNode(tracked: Tracked, sent: Projection | undefined): void {
  if (tracked.of !== 'Node') return;
  if (sent === undefined) tracked.sentNode = undefined;
  else tracked.sentNode = sent.kind === 'Node' ? sent : 'opaque';
}

function deltaOf(tracked: Tracked, wanted: readonly Membership[]): Delta {
  const object: Projection | null = wanted.length === 0 ? null : (tracked.slim?.projection ?? null);
  const { of, uid, name, namespace } = tracked;
  const names = { of, uid, name, ...(namespace === undefined ? {} : { namespace }) };
  return { ...names, object, sets: wanted, formerSets: tracked.sent };
}

function replaceHashes(
  hashes: SetHashes,
  kind: WatchedKind,
  change: { readonly former: readonly Membership[]; readonly next: readonly Membership[] },
): SetHashes {
  let sum = hashes[kind];
  for (const { hash } of change.former) sum = subtractHash(sum, hash);
  for (const { hash } of change.next) sum = addHash(sum, hash);
  return { ...hashes, [kind]: sum };
}
