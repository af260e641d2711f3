/**
 * One epoch of the watcher, from its announcement to its end.
 *
 *   announce ─accepted─▶ list and watch four kinds ─all listed─▶ snapshot ─▶ flush, heartbeat, snapshot …
 *
 * The lists begin only when the queue has accepted the announcement, so that whatever an older watcher managed to send
 * precedes them (faults row 80). One loop sends; list-watches only fill store and outbox and ring its bell.
 */
import { WATCHED_KINDS, type WatchedKind } from '../../core/model/projections.ts';
import { sliceCountFor, SLICE_COUNT_MAX } from '../../core/projections/set-hash.ts';
import type { AnnouncementBody, Membership } from '../../core/model/watcher-message.ts';
import { jittered } from '@rollcall/base/ports/random.ts';
import { Intake } from '../observe/intake.ts';
import { ListWatch } from '../observe/list-watch.ts';
import { createSelectorIndex } from '../project/membership.ts';
import { AffectedFinder } from '../outbox/affected.ts';
import { PriorityJudge, type ChangePriority } from '../outbox/change-priority.ts';
import { FlushSchedule } from '../outbox/flush-schedule.ts';
import { Outbox } from '../outbox/outbox.ts';
import { createProjector, type SlimObject, type Projector } from '../project/projection.ts';
import { Publisher, type PublishEnd } from '../outbox/publisher.ts';
import { Sender } from '../outbox/sender.ts';
import { ObjectStore, type StoreListener, type Tracked } from '../project/store.ts';
import {
  isAwaited,
  announcement,
  type SessionDependencies,
  type SessionStart,
  type SessionEnd,
  type SessionPhase,
  type SessionStatus,
} from './options.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

export class Session {
  readonly #on: SessionDependencies;
  readonly #start: SessionStart;
  readonly #abort = new AbortController();
  readonly #alarm: Alarm;
  readonly #sender: Sender;
  readonly #store: ObjectStore;
  readonly #outbox = new Outbox();
  readonly #intake: Intake;
  readonly #schedule: FlushSchedule;
  readonly #priorities: PriorityJudge;
  readonly #publisher: Publisher;
  #phase: SessionPhase = 'announcing';
  #end: SessionEnd | undefined;
  #periodicDueMs: number;
  #requestId: string | undefined;
  #sliceCountMin = 1;
  #filteredCount = 0;

  constructor(dependencies: SessionDependencies, start: SessionStart) {
    const { clock, log, metrics, random, options, memory } = dependencies;
    const nowMs = clock.monotonicMs();
    this.#on = dependencies;
    this.#start = start;
    this.#alarm = new Alarm(clock);
    this.#periodicDueMs = nowMs + jittered(random, options.snapshotMs, 0.1);
    this.#schedule = new FlushSchedule(options, nowMs);
    const { sendBackoffBaseMs: backoffBaseMs, sendBackoffCapMs: backoffCapMs } = options;
    const sending = { ...dependencies, backoffBaseMs, backoffCapMs };
    this.#sender = new Sender(sending, start.header, this.#abort.signal);
    const selectors = createSelectorIndex((owner, reason) => {
      log.warn('a selector cannot be evaluated and matches nothing', { owner, reason });
    });
    this.#store = new ObjectStore(selectors, this.#listener());
    const affected = new AffectedFinder(this.#store);
    this.#priorities = new PriorityJudge(this.#store, affected);
    const projector = createSessionProjector(dependencies);
    this.#intake = new Intake({
      store: this.#store,
      projector,
      clock,
      log,
      metrics,
      onRestored: () => {
        this.finish('restored');
      },
      onSynced: () => {
        this.#alarm.ring();
      },
    });
    this.#publisher = new Publisher({
      ...dependencies,
      ...memory,
      sender: this.#sender,
      store: this.#store,
      affected,
      outbox: this.#outbox,
      intake: this.#intake,
      schedule: this.#schedule,
      projector,
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Runs the epoch to its end; nothing of it is running any more then. */
  async run(): Promise<SessionEnd> {
    const watches: Promise<void>[] = [];
    try {
      const end = await this.#publish(watches);
      this.finish(end === 'refused' ? 'refused' : 'stopped');
    } catch (cause) {
      this.#on.metrics.count('WatcherBugs', { outcome: 'session' });
      this.#on.log.error('the epoch failed and a new one begins', {}, cause);
      this.finish('failed');
    }
    await Promise.all(watches);
    return this.#end ?? 'stopped';
  }

  /** Ends the epoch; the first reason counts. */
  finish(end: SessionEnd): void {
    this.#end ??= end;
    this.#abort.abort();
    this.#alarm.ring();
  }

  /** A function asked for a snapshot through the Lease. */
  requestSnapshot(requestId: string): void {
    this.#requestId = requestId;
    this.#alarm.ring();
  }

  status(): SessionStatus {
    const counts = WATCHED_KINDS.map((kind) => [kind, this.#store.count(kind)] as const);
    return {
      phase: this.#phase,
      seq: this.#sender.seq,
      marks: this.#intake.marks(),
      objects: Object.fromEntries(counts) as Record<WatchedKind, number>,
      waiting: this.#outbox.size,
      sliceCount: this.#publisher.sliceCount,
      hasRollout: this.#store.hasRollout,
      lastAcceptedMs: this.#sender.lastAcceptedMs,
    };
  }

  #listener(): StoreListener {
    const { clock } = this.#on;
    const note = (priority: ChangePriority): void => {
      if (this.#schedule.note(priority, clock.monotonicMs())) this.#alarm.ring();
    };
    const noteFiltered = (tracked: Tracked, sets: readonly Membership[]): void => {
      if (!isAwaited(tracked, sets)) return;
      this.#filteredCount += 1;
      note('calm');
    };
    return {
      onChanged: (tracked, former) => {
        if (this.#outbox.note(tracked) === 'clean') noteFiltered(tracked, former.sets);
        // Until the snapshot is closed nothing is flushed, and its cut takes all of this along.
        else if (this.#phase !== 'steady') note('normal');
        else note(this.#priorities.judge(tracked, former));
      },
      onFiltered: (tracked) => {
        noteFiltered(tracked, tracked.sets);
      },
    };
  }

  async #publish(watches: Promise<void>[]): Promise<PublishEnd> {
    const { reason, requestId } = this.#start;
    const { clock, options, memory } = this.#on;
    const { sliceCount } = memory;
    const announced = await this.#publisher.announce(announcement(reason, sliceCount, requestId));
    if (announced !== 'done') return announced;
    this.#phase = 'listing';
    for (const kind of WATCHED_KINDS) watches.push(this.#listWatch(kind).run());
    while (!this.#intake.isSynced && this.#end === undefined) {
      // It rings once all lists have ended; one that fails for hours (no rights) must not become a busy loop.
      await this.#alarm.sleepUntil(clock.monotonicMs() + options.snapshotMs);
    }
    let end: PublishEnd = await this.#snapshot(requestId);
    while (end === 'done' && this.#end === undefined) end = await this.#step();
    return end;
  }

  /** The next due work, or a sleep until then. */
  async #step(): Promise<PublishEnd> {
    const nowMs = this.#on.clock.monotonicMs();
    const asked = this.#dueAnnouncement(nowMs);
    if (asked !== undefined) {
      const end = await this.#publisher.announce(asked);
      return end === 'done' ? this.#snapshot(asked.requestId) : end;
    }
    const dueMs = this.#schedule.dueMs(this.#store.hasRollout);
    if (dueMs > nowMs) {
      await this.#alarm.sleepUntil(Math.min(dueMs, this.#periodicDueMs));
      return 'done';
    }
    if (this.#outbox.size === 0) this.#countHeartbeat();
    return this.#publisher.flush();
  }

  #countHeartbeat(): void {
    const { metrics } = this.#on;
    metrics.count('WatcherHeartbeats');
    metrics.count('WatcherFilteredEvents', { by: this.#filteredCount });
    this.#filteredCount = 0;
  }

  /** A snapshot that should be announced now: asked for, more slices needed, or time for one. */
  #dueAnnouncement(nowMs: number): Omit<AnnouncementBody, 'kind'> | undefined {
    const requestId = this.#requestId;
    const sliceCount = this.#sliceCountWanted();
    if (requestId !== undefined) {
      this.#requestId = undefined;
      return announcement('requested', sliceCount, requestId);
    }
    // Only upwards: fewer slices can wait for the next announcement, and a count that swings must not.
    if (sliceCount > this.#publisher.sliceCount) return announcement('threshold', sliceCount);
    if (this.#periodicDueMs > nowMs) return undefined;
    // A refused object is tried again with its next change: the refusal may have been the queue's.
    this.#on.memory.unsendable.clear();
    return announcement('periodic', sliceCount);
  }

  #sliceCountWanted(): number {
    const { memory, options } = this.#on;
    let wanted = Math.max(sliceCountFor(this.#store.count('Node')), this.#sliceCountMin);
    const chars = this.#store.largestSetChars;
    while (
      wanted < SLICE_COUNT_MAX &&
      memory.size.storedBytes(chars / wanted) > options.sliceBytesMax
    ) {
      wanted *= 4;
    }
    return wanted;
  }

  async #snapshot(requestId: string | undefined): Promise<PublishEnd> {
    this.#phase = 'snapshot';
    const { clock, random, options, memory } = this.#on;
    while (this.#end === undefined) {
      const sliceCount = this.#sliceCountWanted();
      if (sliceCount > this.#publisher.sliceCount) {
        const body = announcement('threshold', sliceCount, requestId);
        const announced = await this.#publisher.announce(body);
        if (announced !== 'done') return announced;
      }
      const end = await this.#publisher.snapshot();
      if (end !== 'more-slices') {
        this.#phase = 'steady';
        this.#periodicDueMs = clock.monotonicMs() + jittered(random, options.snapshotMs, 0.1);
        memory.sliceCount = this.#publisher.sliceCount;
        return end;
      }
      this.#sliceCountMin = this.#publisher.sliceCount * 4;
    }
    return 'over';
  }

  #listWatch(kind: WatchedKind): ListWatch<SlimObject> {
    const { options } = this.#on;
    const target = this.#intake.target(kind);
    const dependencies = { ...this.#on, kind, target, options: options.listWatch };
    return new ListWatch(dependencies, this.#abort.signal);
  }
}

function createSessionProjector({ log, metrics, memory, options }: SessionDependencies): Projector {
  return createProjector({
    interner: memory.interner,
    objectBytesMax: options.objectBytesMax,
    unsendable: memory.unsendable,
    onOpaque: ({ of: kind, namespace, name, uid }, reason) => {
      metrics.count('WatcherOpaqueObjects', { outcome: reason });
      log.warn('an object travels opaque', { kind, namespace, name, uid, reason });
    },
  });
}

/**
 * How the one loop that sends waits for the next thing to do. At most one sleeper; a ring without a sleeper ends the next sleep
 * at once, so that none is lost between a look at the state and the sleep that follows it.
 */
export class Alarm {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;
  #hasRung = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep that is on, or the next one. */
  ring(): void {
    if (this.#wake === undefined) this.#hasRung = true;
    else this.#wake();
  }

  /** Sleeps until a monotonic time, or until it rings. */
  sleepUntil(dueMs: number): Promise<void> {
    if (this.#hasRung) {
      this.#hasRung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#wake = undefined;
        cancel();
        resolve();
      };
      const cancel = this.#clock.after(dueMs - this.#clock.monotonicMs(), finish);
      this.#wake = finish;
    });
  }
}
