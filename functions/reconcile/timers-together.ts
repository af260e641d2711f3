/**
 * Timers of the runs of a batch: they leave together, so that they come back together (ADR 0048).
 *
 *   a run sends its timer ──▶ waits for those of the runs beside it, 50 ms at most (L3) ──▶ one send for all
 *
 * A run waits for its own timers to be accepted before it records them (protocol 12); a send that fails rejects each of
 * them.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Timer } from '../../src/core/model/hint.ts';
import type { HintQueue } from '../../src/ports/queues/queue.ts';

/** So long a timer waits for those of the runs beside it, milliseconds. */
const COMPANY_WAIT_MS = 50;

interface Waiting {
  readonly timers: readonly Timer[];
  readonly answer: (sent: Promise<void>) => void;
}

/** Gathers the timers of one batch. */
export class TimersTogether implements Pick<HintQueue, 'sendTimers'> {
  readonly #queue: Pick<HintQueue, 'sendTimers'>;
  readonly #clock: Clock;
  #running = 0;
  #waiting: Waiting[] = [];
  #cancelWait: (() => void) | undefined;

  constructor(options: { readonly queue: Pick<HintQueue, 'sendTimers'>; readonly clock: Clock }) {
    this.#queue = options.queue;
    this.#clock = options.clock;
  }

  /** Counts a run as one whose timer is worth waiting for, as long as it lasts. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await run();
    } finally {
      this.#running -= 1;
      this.#departIfAll();
    }
  }

  /** Resolves when the queue has accepted them; rejects when it does not take what was sent together. */
  sendTimers(timers: readonly Timer[]): Promise<void> {
    const sent = new Promise<void>((answer) => {
      this.#waiting.push({ timers, answer });
    });
    this.#cancelWait ??= this.#clock.after(COMPANY_WAIT_MS, () => {
      this.#depart();
    });
    this.#departIfAll();
    return sent;
  }

  /** A run waits for its send, so there are as many waiting as runs that wait. */
  #departIfAll(): void {
    if (this.#waiting.length >= this.#running) this.#depart();
  }

  #depart(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    const leaving = this.#waiting;
    if (leaving.length === 0) return;
    this.#waiting = [];
    const sent = this.#queue.sendTimers(leaving.flatMap(({ timers }) => timers));
    for (const { answer } of leaving) answer(sent);
  }
}
