/**
 * When the changes that wait are sent: at once while little happens, a few times a second while much
 * does (design 2).
 *
 * A change goes out after a few milliseconds of quiet, and never later than `flushMsMax`. Each flush makes
 * every key that it concerns look again, so a stream of small flushes would cost far more than it saves:
 * after a burst of quick ones, flushes come no faster than one in `flushMsMax`. A flush that touches many
 * slices, or large ones, costs whoever applies it more than that: `ingest` packs each of them as a whole, and
 * applies one message of a cluster at a time. So the pace stretches with what the flush before touched, up to
 * `flushStretchedMsMax`: ten churning DaemonSets on 5,000 nodes touch 160 slices in each, and a backlog
 * would grow for as long as they churn; one that is rolled out there packs 5,000 pods. Pure; times are monotonic.
 */

/** Bounds of the pace. */
export interface FlushPaceOptions {
  /** Quiet after which a change is sent. */
  readonly flushQuietMs: number;
  /** No change waits longer; the pace of a long burst. */
  readonly flushMsMax: number;
  /**
   * So long a change waits that leads to nothing by itself, for what follows it; after a wide flush for twice what that one
   * stretches the pace to, but no longer than `flushCalmMsMax`: a status that is told later is all that it costs.
   */
  readonly flushCalmMs: number;
  readonly flushCalmMsMax: number;
  /** Added to the pace for each slice that the flush before touched, and for each object in one of them. */
  readonly flushMsPerSlice: number;
  readonly flushMsPerObject: number;
  /** The longest that the pace is stretched to; no change waits longer. */
  readonly flushStretchedMsMax: number;
  /** Quick flushes in a row; one more is allowed for each `flushMsMax` that passed. */
  readonly flushBurstMax: number;
}

/** What a flush makes whoever applies it write anew. */
export interface FlushWidth {
  readonly slices: number;
  /** That stand in these slices. */
  readonly objects: number;
}

/** Changes that wait for one flush. */
export interface WaitingChanges {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Changes that lead to nothing wait for so many paces of a wide flush. */
const CALM_PACES = 2;

/** Paces flushes. */
export class FlushPace {
  readonly #options: FlushPaceOptions;
  /** Quick flushes left at `#asOfMs`; fractions grow back with time. */
  #left: number;
  #asOfMs = Number.NEGATIVE_INFINITY;
  /** What the last flush makes others write anew, as the time that it is given. */
  #workMs = 0;

  constructor(options: FlushPaceOptions) {
    this.#options = options;
    this.#left = options.flushBurstMax;
  }

  /** One flush in so long, as the last one has it: `flushMsMax`, or more after a wide one. */
  get paceMs(): number {
    const { flushMsMax, flushStretchedMsMax } = this.#options;
    return Math.min(flushStretchedMsMax, Math.max(flushMsMax, this.#workMs));
  }

  /** When changes are to be sent of which the first and the last came at these times. */
  dueMs({ firstMs, lastMs }: WaitingChanges): number {
    const quietMs = lastMs + this.#options.flushQuietMs;
    return Math.min(Math.max(quietMs, this.#allowedMs()), firstMs + this.paceMs);
  }

  /** When changes are to be sent of which the first came then, and that lead to nothing by themselves. */
  calmDueMs(firstMs: number): number {
    const pacedMs = Math.min(this.#allowedMs(), firstMs + this.paceMs);
    const { flushCalmMs, flushCalmMsMax } = this.#options;
    const calmMs = Math.min(flushCalmMsMax, Math.max(flushCalmMs, CALM_PACES * this.#workMs));
    return Math.max(firstMs + calmMs, pacedMs);
  }

  #allowedMs(): number {
    return this.#asOfMs + Math.max(0, 1 - this.#left) * this.paceMs;
  }

  /** Notes a flush, and what it touches. */
  take(nowMs: number, { slices, objects }: FlushWidth): void {
    const { flushMsMax, flushBurstMax, flushMsPerSlice, flushMsPerObject } = this.#options;
    const grown = (nowMs - this.#asOfMs) / this.paceMs;
    const isWide = slices * flushMsPerSlice > flushMsMax;
    // After a wide one there is no burst: each would be wide as well.
    this.#left = isWide ? 0 : Math.max(0, Math.min(flushBurstMax, this.#left + grown) - 1);
    this.#workMs = slices * flushMsPerSlice + objects * flushMsPerObject;
    this.#asOfMs = nowMs;
  }
}
