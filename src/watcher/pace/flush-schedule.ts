/**
 * When what waits is sent, by who waits for it (ADR 0059):
 *
 *   prompt  a decision can be made at once: a node that may be used, an edit, a pod that somebody took away
 *   usual   decides, but among many of its kind, as in a rollout: at the pace of flushes
 *   calm    leads to nothing by itself: a pod that was just made, a node that no DaemonSet may use yet; after 250 ms, or
 *           two paces of a wide flush, so that it meets what follows it
 *
 * A flush takes along whatever waits, so the next one of the pace follows it as any other. Prompt ones have a burst of their own, which
 * grows back slowly: a crowd of them goes at the pace.
 * Pure: the caller brings the time, monotonic; it sends nothing.
 */
import { FlushPace } from './flush-pace.ts';
import type { FlushPaceOptions, FlushWidth, WaitingChanges } from './flush-pace.ts';

/** Who waits for a change. */
export type Urgency = 'prompt' | 'usual' | 'calm';

/** Bounds of the schedule. */
export interface FlushScheduleOptions extends FlushPaceOptions {
  /** Prompt flushes in a row, and after how long one more is allowed; no sooner than the pace has it. */
  readonly promptBurstMax: number;
  readonly promptEveryMs: number;
  /** Prompt changes that keep coming wait no longer for quiet. */
  readonly promptMsMax: number;
}

/** The schedule of one epoch. */
export class FlushSchedule {
  readonly #options: FlushScheduleOptions;
  readonly #pace: FlushPace;
  #waiting: Partial<Record<Urgency, WaitingChanges>> = {};
  /** Prompt flushes left at `#promptAsOfMs`; fractions grow back with time. */
  #promptLeft: number;
  #promptAsOfMs = 0;

  constructor(options: FlushScheduleOptions) {
    this.#options = options;
    this.#pace = new FlushPace(options);
    this.#promptLeft = options.promptBurstMax;
  }

  /** True once anything prompt waits: the next flush cannot come sooner. */
  get isPrompt(): boolean {
    return this.#waiting.prompt !== undefined;
  }

  /** A change waits. True if the flush is due earlier now. */
  note(urgency: Urgency, nowMs: number): boolean {
    const beforeMs = this.dueMs();
    const firstMs = this.#waiting[urgency]?.firstMs ?? nowMs;
    this.#waiting[urgency] = { firstMs, lastMs: nowMs };
    return this.dueMs() < beforeMs;
  }

  /** When what waits is to be sent; infinite while nothing does. */
  dueMs(): number {
    const { prompt, usual, calm } = this.#waiting;
    return Math.min(
      prompt === undefined
        ? Infinity
        : Math.min(this.#promptDueMs(prompt), this.#pace.dueMs(prompt)),
      usual === undefined ? Infinity : this.#pace.dueMs(usual),
      calm === undefined ? Infinity : this.#pace.calmDueMs(calm.firstMs),
    );
  }

  /** What waited is being sent; undefined: it turned out to be nothing. */
  take(nowMs: number, width: FlushWidth | undefined): void {
    if (width !== undefined) {
      if (this.isPrompt) {
        this.#promptLeft = Math.max(0, this.#promptLeftAt(nowMs) - 1);
        this.#promptAsOfMs = nowMs;
      }
      this.#pace.take(nowMs, width);
    }
    this.#waiting = {};
  }

  #promptDueMs({ firstMs, lastMs }: WaitingChanges): number {
    const { flushQuietMs, promptMsMax } = this.#options;
    const quietMs = Math.min(lastMs + flushQuietMs, firstMs + promptMsMax);
    const missing = Math.max(0, 1 - this.#promptLeft);
    return Math.max(quietMs, this.#promptAsOfMs + missing * this.#promptEveryMs);
  }

  #promptLeftAt(nowMs: number): number {
    const grown = (nowMs - this.#promptAsOfMs) / this.#promptEveryMs;
    return Math.min(this.#options.promptBurstMax, this.#promptLeft + grown);
  }

  /** Each takes along what the pace spares others for a while. */
  get #promptEveryMs(): number {
    return Math.max(this.#options.promptEveryMs, this.#pace.paceMs);
  }
}
