/**
 * Whether anything grows during a day that is the same from beginning to end.
 *
 * Rates compare the last third with the first; memory the median of the last third with that of the second, because a
 * process is warm only after the first. The margins are stated here and nowhere else. Pure.
 */

/** Something counted at a moment, in milliseconds since the epoch. */
export interface Moment {
  readonly atMs: number;
  readonly value: number;
}

/** From when to when the day went, in milliseconds since the epoch. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Beside half as much again, so many a minute: an edit or a scale-up more in the last third is no growth. */
const RATE_MARGIN_PER_MINUTE = 60;
const RATE_FACTOR = 1.5;
/** A heap that was collected a moment ago, or not yet. */
const MEMORY_MARGIN_BYTES = 12 * 1024 * 1024;
const MEMORY_FACTOR = 1.05;
const THIRDS = 3;
const MINUTE_MS = 60_000;

/** Sums per minute of each third. */
export function ratesOf(moments: readonly Moment[], span: Span): readonly number[] {
  const minutes = (span.toMs - span.fromMs) / THIRDS / MINUTE_MS;
  return thirdsOf(moments, span).map(
    (third) => third.reduce((sum, { value }) => sum + value, 0) / minutes,
  );
}

/** Medians of each third; nothing measured is an error. */
export function mediansOf(moments: readonly Moment[], span: Span): readonly number[] {
  return thirdsOf(moments, span).map((third) => {
    const values = third.map(({ value }) => value).sort((left, right) => left - right);
    const median = values[Math.floor(values.length / 2)];
    if (median === undefined) throw new Error('a third of the day without a measurement');
    return median;
  });
}

/** How a rate grew beyond its margin, in words; undefined if it did not. */
export function rateGrowth(name: string, rates: readonly number[]): string | undefined {
  const [first = 0, , last = 0] = rates;
  if (last <= first * RATE_FACTOR + RATE_MARGIN_PER_MINUTE) return undefined;
  return `${name} grew from ${first.toFixed(0)} to ${last.toFixed(0)} a minute`;
}

/** How memory grew beyond its margin, in words; undefined if it did not. */
export function memoryGrowth(name: string, medians: readonly number[]): string | undefined {
  const [, second = 0, last = 0] = medians;
  if (last <= second * MEMORY_FACTOR + MEMORY_MARGIN_BYTES) return undefined;
  return `memory of ${name} grew from ${mebibytes(second)} to ${mebibytes(last)}`;
}

/** For people. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}

function thirdsOf(moments: readonly Moment[], { fromMs, toMs }: Span): readonly Moment[][] {
  const lengthMs = (toMs - fromMs) / THIRDS;
  return Array.from({ length: THIRDS }, (_, index) => {
    const beganMs = fromMs + index * lengthMs;
    return moments.filter(({ atMs }) => atMs >= beganMs && atMs < beganMs + lengthMs);
  });
}
