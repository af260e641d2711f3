/**
 * A clock that moves only when a test says so: the Clock port on virtual time.
 *
 * Timers fire in order of their time, then of their creation. Between two timers every pending promise
 * reaction runs (one turn of the event loop), so what a timer starts is finished, or waits for a later
 * timer, before time moves on. Nothing here sleeps; real time plays no part. Wall time can be skewed or
 * stepped against the monotonic clock, as spec faults rows 13 and 14 want.
 */
import type { Cancel, Clock } from '../ports/clock.ts';

interface VirtualTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Where virtual wall time starts unless told: 2026-01-01T00:00:00Z. */
export const VIRTUAL_START_MS = Date.UTC(2026, 0, 1);

/** Lets every pending promise reaction run, without moving any clock. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function settleFor(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await settle();
}

/** The Clock port, driven by `advance`. */
export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #order = 0;
  /** Binary heap by (dueMs, order). Cancelled timers stay until they reach the top. */
  readonly #heap: VirtualTimer[] = [];
  readonly #live = new Set<VirtualTimer>();
  readonly #turns: number;

  /** `turns` of the event loop pass between two timers: more than one where code waits for a turn itself. */
  constructor(startMs: number = VIRTUAL_START_MS, turns = 1) {
    this.#wallOffsetMs = startMs;
    this.#turns = turns;
  }

  nowMs(): number {
    return this.#elapsedMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, callback: () => void): Cancel {
    this.#order += 1;
    const dueMs = this.#elapsedMs + Math.max(0, delayMs);
    const timer: VirtualTimer = { dueMs, order: this.#order, callback };
    this.#live.add(timer);
    push(this.#heap, timer);
    return () => {
      this.#live.delete(timer);
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const finish = (): void => {
        signal?.removeEventListener('abort', finish);
        cancel();
        resolve();
      };
      const cancel = this.after(delayMs, finish);
      signal?.addEventListener('abort', finish);
    });
  }

  /** Timers that have neither fired nor been cancelled: 0 after everything was stopped. */
  get pendingTimers(): number {
    return this.#live.size;
  }

  /** Steps the wall clock against the monotonic one (rows 13, 14). */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** When the next timer fires, in monotonic milliseconds; undefined when there is none. */
  nextTimerMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.dueMs;
  }

  /** Moves time forward, firing what becomes due and letting its consequences run in between. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#elapsedMs + byMs;
    await settleFor(this.#turns);
    for (;;) {
      this.#dropCancelled();
      const timer = this.#heap[0];
      if (timer === undefined || timer.dueMs > untilMs) break;
      pop(this.#heap);
      this.#live.delete(timer);
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      timer.callback();
      await settleFor(this.#turns);
    }
    this.#elapsedMs = untilMs;
  }

  /**
   * Advances from timer to timer until the condition holds; throws if it does not within `withinMs`.
   *
   * @example await clock.advanceUntil(() => queue.accepted.length === 3, { withinMs: 1000 });
   */
  async advanceUntil(isReached: () => boolean, options: { withinMs: number }): Promise<void> {
    const untilMs = this.#elapsedMs + options.withinMs;
    await settleFor(this.#turns);
    while (!isReached()) {
      const nextMs = this.nextTimerMs();
      if (nextMs === undefined || nextMs > untilMs) {
        throw new Error(`condition not reached within ${String(options.withinMs)} virtual ms`);
      }
      await this.advance(Math.max(0, nextMs - this.#elapsedMs));
    }
  }

  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && !this.#live.has(this.#heap[0])) pop(this.#heap);
  }
}

function isBefore(left: VirtualTimer, right: VirtualTimer): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.order < right.order);
}

function push(heap: VirtualTimer[], timer: VirtualTimer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !isBefore(timer, parent)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = timer;
}

function pop(heap: VirtualTimer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let childIndex = 2 * index + 1;
    const left = heap[childIndex];
    const right = heap[childIndex + 1];
    if (left === undefined) break;
    const child = right !== undefined && isBefore(right, left) ? right : left;
    if (child === right) childIndex += 1;
    if (!isBefore(child, last)) break;
    heap[index] = child;
    index = childIndex;
  }
  heap[index] = last;
}
