/**
 * Builds the messages of one epoch and has them sent, one after the other (protocol 2, 16); the session says when.
 *
 *   flush:     changes … changes+cut            the cut's marks were copied when the flush began
 *   snapshot:  announcement, slices, changes, slices …, changes, manifest with cut
 *
 * A message is built, encoded, measured, perhaps built smaller, and only then counts as sent, in one synchronous step.
 */
import { SLICE_COUNT_MAX } from '../../core/projections/set-hash.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import { WATCHED_KINDS } from '../../core/model/projections.ts';
import type { AnnouncementBody, Cut } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { FrozenMessage } from '../../ports/queues/queue.ts';
import type { Intake } from '../observe/intake.ts';
import type { MessageSize } from '../project/message-size.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { AffectedFinder } from './affected.ts';
import type { FlushSchedule } from './flush-schedule.ts';
import type { Outbox } from './outbox.ts';
import type { OpaqueReason, Projector } from '../project/projection.ts';
import type { CutMoment, Sender } from './sender.ts';
import { Snapshot, type SliceBatch } from './snapshot.ts';
import type { ObjectStore, Tracked } from '../project/store.ts';

/** Bounds of what is sent. */
export interface MessageOptions {
  readonly deltasPerMessageMax: number;
  /** Estimated stored size of a slice above which there must be more slices (protocol 16). */
  readonly sliceBytesMax: number;
}

interface PublisherDependencies extends Omit<ProcessPorts, 'random'> {
  readonly sender: Sender;
  readonly store: ObjectStore;
  readonly affected: AffectedFinder;
  readonly outbox: Outbox;
  readonly intake: Intake;
  readonly schedule: FlushSchedule;
  readonly projector: Projector;
  /** Lives as long as the process: what refusals taught holds for later epochs. */
  readonly size: MessageSize;
  readonly unsendable: Map<Uid, OpaqueReason>;
  readonly options: MessageOptions;
}

/** How publishing something ended. `over`: the epoch is, or the watcher was stopped. */
export type PublishEnd = 'done' | 'refused' | 'over';

interface Message {
  readonly frozen: FrozenMessage;
  /** Objects in it, should the queue refuse it. */
  readonly uids: readonly Uid[];
  /** Parts that could have been sent apart. */
  readonly unitCount: number;
  /** When its cut was begun, if it carries one. */
  readonly cut?: CutMoment;
}

interface BegunCut extends Pick<Cut, 'marks' | 'silentMs'> {
  readonly at: CutMoment;
}

function cutOf({ marks, silentMs }: BegunCut, hashes: Cut['hashes']): Cut {
  return { marks, hashes, silentMs };
}

/** Parts of a batch that could be sent apart: slices, or DaemonSets of a portion. */
function unitsOf(batch: SliceBatch): number {
  const isPortion = batch.slices[0]?.set === 'daemonsets';
  return isPortion ? batch.members.length : batch.slices.length;
}

/** True if a higher slice count would make the batch's only slice smaller. */
function isCuttable(batch: SliceBatch, sliceCount: number): boolean {
  const set = batch.slices[0]?.set ?? 'daemonsets';
  return set !== 'daemonsets' && !set.startsWith('revisions/') && sliceCount < SLICE_COUNT_MAX;
}

/** The message stream of one epoch. */
export class Publisher {
  readonly #on: PublisherDependencies;
  #announced = { seq: 0, sliceCount: 1 };

  constructor(dependencies: PublisherDependencies) {
    this.#on = dependencies;
  }

  /** Slice count of the announcement that was accepted last. */
  get sliceCount(): number {
    return this.#announced.sliceCount;
  }

  /** Announces a snapshot; nothing may be listed or sent before the queue has it. */
  async announce(body: Omit<AnnouncementBody, 'kind'>): Promise<PublishEnd> {
    const { sender, log, metrics } = this.#on;
    const frozen = sender.freeze({ kind: 'announcement', ...body });
    const end = await this.#send({ frozen, uids: [], unitCount: 1 });
    if (end !== 'done') return end;
    const { seq } = frozen.message;
    this.#announced = { seq, sliceCount: body.sliceCount };
    metrics.count('WatcherAnnouncements', { outcome: body.reason });
    log.info('announced a snapshot', { ...body, seq });
    return 'done';
  }

  /** Sends what waits, closed by a cut. With nothing waiting this is a heartbeat. */
  async flush(): Promise<PublishEnd> {
    const begun = this.#beginCut();
    for (;;) {
      const { message, isLast } = this.#freezeChanges(begun);
      const end = await this.#send(message);
      if (end !== 'done' || isLast) return end;
    }
  }

  /** Sends the snapshot announced last. `more-slices`: announce again with a higher count. */
  async snapshot(): Promise<PublishEnd | 'more-slices'> {
    const { outbox, store } = this.#on;
    const { seq: announcedSeq, sliceCount } = this.#announced;
    const snapshot = new Snapshot(store, { sliceCount, announcedSeq });
    outbox.startSnapshot(
      WATCHED_KINDS.flatMap((kind) => [...store.objects(kind)]),
      snapshot,
    );
    while (!snapshot.isThrough) {
      const message = this.#freezeSlices(snapshot);
      if (message === 'more-slices') return message;
      const end = await this.#send(message);
      if (end !== 'done') return end;
      outbox.beginFlush();
      const deltasEnd = await this.#sendUncut();
      if (deltasEnd !== 'done') return deltasEnd;
    }
    const begun = this.#beginCut();
    const end = await this.#sendUncut();
    return end === 'done' ? this.#close(snapshot, begun) : end;
  }

  /** The marks and the changes that they cover are fixed in one step: how old the cut is counts from here. */
  #beginCut(): BegunCut {
    const { outbox, schedule, store, intake, clock } = this.#on;
    const monotonicMs = clock.monotonicMs();
    outbox.beginFlush();
    const width = outbox.widthOf(this.sliceCount, (set) => store.sizeOf(set));
    schedule.noteFlush(monotonicMs, width);
    const at = { monotonicMs, wallMs: clock.nowMs() };
    return { at, marks: intake.marks(), silentMs: intake.silentMs() };
  }

  async #sendUncut(): Promise<PublishEnd> {
    while (this.#on.outbox.isFlushing) {
      const end = await this.#send(this.#freezeChanges(undefined).message);
      if (end !== 'done') return end;
    }
    return 'done';
  }

  async #close(snapshot: Snapshot, begun: BegunCut): Promise<PublishEnd> {
    const { sender, outbox, log } = this.#on;
    const { announcedSeq, sliceCount } = snapshot;
    const cut = cutOf(begun, outbox.hashes);
    const frozen = sender.freeze({ kind: 'manifest', announcedSeq, sliceCount, cut });
    outbox.endSnapshot();
    const end = await this.#send({ frozen, uids: [], unitCount: 1, cut: begun.at });
    if (end === 'done') log.info('closed a snapshot', { announcedSeq, sliceCount });
    return end;
  }

  #freezeChanges(begun: BegunCut | undefined): {
    readonly message: Message;
    readonly isLast: boolean;
  } {
    const { sender, affected: finder, outbox, size, options } = this.#on;
    let deltasMax = options.deltasPerMessageMax;
    for (;;) {
      const batch = outbox.nextBatch(size.charsMax, deltasMax);
      const { deltas, isLast, hashes } = batch;
      const closing = isLast ? begun : undefined;
      const cut = closing === undefined ? {} : { cut: cutOf(closing, hashes) };
      const begins = batch.begun.size === 0 ? {} : { begun: [...batch.begun] };
      const affected = defined({ affected: finder.affectedBy(batch.tracked) });
      const frozen = sender.freeze({ kind: 'changes', deltas, ...affected, ...begins, ...cut });
      if (frozen.sizeBytes <= size.bytesMax) {
        outbox.commitBatch(batch);
        size.learn(batch.chars, frozen.sizeBytes);
        const uids = deltas.map((delta) => delta.uid);
        const at = closing === undefined ? {} : { cut: closing.at };
        return { message: { frozen, uids, unitCount: deltas.length, ...at }, isLast };
      }
      if (deltas.length > 1) deltasMax = Math.ceil(deltas.length / 2);
      else if (!batch.tracked.some((tracked) => this.#makeOpaque(tracked, 'too-large'))) {
        throw new Error(`a message of one opaque object has ${String(frozen.sizeBytes)} bytes`);
      }
    }
  }

  #freezeSlices(snapshot: Snapshot): Message | 'more-slices' {
    const { sender, outbox, size } = this.#on;
    let charsMax = size.charsMax;
    for (;;) {
      const batch = snapshot.nextBatch(charsMax);
      const frozen = sender.freeze({ kind: 'slices', slices: batch.slices });
      const unitCount = unitsOf(batch);
      if (this.#fits(frozen, unitCount)) {
        snapshot.commit(batch);
        outbox.commitSlice(batch.members);
        size.learn(batch.chars, frozen.sizeBytes);
        return { frozen, uids: batch.members.map(({ tracked }) => tracked.uid), unitCount };
      }
      if (unitCount > 1) charsMax = Math.min(charsMax, batch.chars) / 2;
      else if (isCuttable(batch, snapshot.sliceCount)) return 'more-slices';
      else this.#thinOut(batch);
    }
  }

  /** A slice must fit its message, and later its item (protocol 16: 300 KB). */
  #fits(frozen: FrozenMessage, unitCount: number): boolean {
    const { size, options } = this.#on;
    if (frozen.sizeBytes > size.bytesMax) return false;
    return unitCount > 1 || size.storedOf(frozen.sizeBytes) <= options.sliceBytesMax;
  }

  /** The last resort for a slice that cannot be cut further: its larger half travels opaque. */
  #thinOut(batch: SliceBatch): void {
    const bySize = batch.members.map(({ tracked }) => tracked);
    bySize.sort((left, right) => right.chars - left.chars);
    const larger = bySize.slice(0, Math.ceil(bySize.length / 2));
    const changed = larger.filter((tracked) => this.#makeOpaque(tracked, 'too-large'));
    if (changed.length === 0) throw new Error('a slice of opaque objects does not fit a message');
  }

  /** Answers false when it was opaque already. */
  #makeOpaque(tracked: Tracked, reason: OpaqueReason): boolean {
    const { store, projector, unsendable } = this.#on;
    if (tracked.slim === null || tracked.slim.projection.kind === 'Opaque') return false;
    unsendable.set(tracked.uid, reason);
    store.apply(projector.opaque(tracked.slim, reason));
    return true;
  }

  async #send(message: Message): Promise<PublishEnd> {
    const end = await this.#on.sender.send(message.frozen, message.cut);
    if (end === 'accepted') return 'done';
    if (end === 'stopped') return 'over';
    // The next epoch sends everything again: in smaller messages, until the culprit travels alone.
    if (message.unitCount > 1) this.#on.size.shrink();
    else for (const uid of message.uids) this.#on.unsendable.set(uid, 'undecodable');
    return 'refused';
  }
}
