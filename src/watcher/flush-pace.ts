/**
 * When the changes that wait are sent: at once while little happens, a few times a second while much
 * does (design 2).
 *
 * A change goes out after a few milliseconds of quiet, and never later than `flushMsMax`. Each flush makes
 * every key that it concerns look again, so a stream of small flushes would cost far more than it saves:
 * after a burst of quick ones, flushes come no faster than one in `flushMsMax`. Pure; times are monotonic.
 */

/** Bounds of the pace. */
export interface FlushPaceOptions {
  /** Quiet after which a change is sent. */
  readonly flushQuietMs: number;
  /** No change waits longer; the pace of a long burst. */
  readonly flushMsMax: number;
  /** Quick flushes in a row; one more is allowed for each `flushMsMax` that passed. */
  readonly flushBurstMax: number;
}

/** Paces flushes. */
export class FlushPace {
  readonly #options: FlushPaceOptions;
  /** Quick flushes left at `#asOfMs`; fractions grow back with time. */
  #left: number;
  #asOfMs: number | undefined;

  constructor(options: FlushPaceOptions) {
    this.#options = options;
    this.#left = options.flushBurstMax;
  }

  /** When changes are to be sent of which the first and the last came at these times. */
  dueMs(change: { readonly firstMs: number; readonly lastMs: number }): number {
    const { flushQuietMs, flushMsMax } = this.#options;
    const quietMs = change.lastMs + flushQuietMs;
    const missing = Math.max(0, 1 - this.#left);
    const allowedMs = (this.#asOfMs ?? Number.NEGATIVE_INFINITY) + missing * flushMsMax;
    return Math.min(Math.max(quietMs, allowedMs), change.firstMs + flushMsMax);
  }

  /** Notes a flush. */
  take(nowMs: number): void {
    const { flushMsMax, flushBurstMax } = this.#options;
    const grown = this.#asOfMs === undefined ? 0 : (nowMs - this.#asOfMs) / flushMsMax;
    this.#left = Math.max(0, Math.min(flushBurstMax, this.#left + grown) - 1);
    this.#asOfMs = nowMs;
  }
}
