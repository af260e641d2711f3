/**
 * A queue of keys with workers, as controllers use it.
 *
 * Invariants: one key is never processed twice at the same time; a key added while it is processed is processed once
 * more afterwards; a key waits at most once. Failed keys come again after 5 ms, doubling. Processing starts in a later
 * microtask than the addition, so that adding is allowed inside a watch's callback. A long run gives way to the event
 * loop every few milliseconds, because in-process requests resolve in microtasks and would starve everybody else.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

/** What processing a key came to. */
export type WorkOutcome =
  | { readonly kind: 'done' }
  /** It failed in an expected way: again after a growing delay. */
  | { readonly kind: 'retry' }
  /** Not a failure: look again then. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** Nothing more to do. */
export const DONE: WorkOutcome = { kind: 'done' };
/** Again after the back-off. */
export const RETRY: WorkOutcome = { kind: 'retry' };

/** Settings of a queue. */
export interface WorkQueueOptions {
  /** For the log. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Does one key's work. A rejection is a bug: it is logged, and the key is retried. */
  readonly process: (key: string) => Promise<WorkOutcome>;
  /** Keys in work at the same time; 1 unless given. */
  readonly workers?: number;
}

/** The queue. */
export interface WorkQueue {
  readonly add: (key: string) => void;
  /** Adds later; the earlier of two delays counts. */
  readonly addAfter: (key: string, delayMs: number) => void;
  /** Ends: keys in work are finished, all others dropped. */
  readonly stop: () => Promise<void>;
}

const BACKOFF_INITIAL_MS = 5;
/** client-go's workqueue goes to 1,000 s; on a laptop that is too long. */
const BACKOFF_CAP_MS = 60_000;
/** Longest run without a turn of the event loop. */
const SLICE_MS = 4;

/** Makes a queue; it starts working with the first key. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  return new KeyedWorkQueue(options);
}

class KeyedWorkQueue implements WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: Cancel }>();
  readonly #failures = new Map<string, number>();
  readonly #workers = new Set<Promise<void>>();
  #idleWorkers = 0;
  #isStopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#idleWorkers = options.workers ?? 1;
  }

  readonly add = (key: string): void => {
    if (this.#isStopped) return;
    this.#waiting.add(key);
    if (this.#idleWorkers === 0) return;
    this.#idleWorkers -= 1;
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  };

  readonly addAfter = (key: string, delayMs: number): void => {
    if (this.#isStopped) return;
    const dueMs = this.#options.clock.monotonicMs() + delayMs;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.dueMs <= dueMs) return;
    earlier?.cancel();
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, cancel });
  };

  readonly stop = async (): Promise<void> => {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    await Promise.all(this.#workers);
  };

  async #work(): Promise<void> {
    await Promise.resolve();
    let sliceStartMs = this.#options.clock.monotonicMs();
    for (let key = this.#take(); key !== undefined; key = this.#take()) {
      await this.#processOne(key);
      if (this.#options.clock.monotonicMs() - sliceStartMs >= SLICE_MS) {
        await this.#options.clock.sleep(0);
        sliceStartMs = this.#options.clock.monotonicMs();
      }
    }
    this.#idleWorkers += 1;
  }

  /** The first waiting key that is not in work already. */
  #take(): string | undefined {
    for (const key of this.#waiting) {
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      return key;
    }
    return undefined;
  }

  async #processOne(key: string): Promise<void> {
    let outcome: WorkOutcome;
    try {
      outcome = await this.#options.process(key);
    } catch (error) {
      this.#options.log.error('a controller failed', { queue: this.#options.name, key }, error);
      outcome = RETRY;
    }
    this.#running.delete(key);
    if (outcome.kind === 'retry') {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.addAfter(key, Math.min(BACKOFF_INITIAL_MS * 2 ** failures, BACKOFF_CAP_MS));
      return;
    }
    this.#failures.delete(key);
    if (outcome.kind === 'later') this.addAfter(key, outcome.delayMs);
  }
}
