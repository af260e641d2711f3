/**
 * Counts coverage: node-seconds since the last count go to their days, and what is seen now holds from here on.
 *
 * A run and, for the time until now, a reader count by the same function; so a report is never ahead of what a run would write.
 */
import { defined } from '@rollcall/base/defined.ts';
import { addToDay, type DailyCounts } from '../cost/daily.ts';
import type { CoverageRecord } from '../model/state.ts';
import type { SeenCoverage } from './see-nodes.ts';
import { spansSince, type CoverageMoment, type Span } from './spans.ts';

/** Days that a state may hold; a week of them leaves for an item of its own (kept-days.ts). */
const STATE_DAYS_MAX = 366;
/** Columns before those of nodes that joined. */
export const TIME_COLUMNS = 3;

const DAY = 86_400;

/** One count: what it adds, and the record after it. */
export interface CountedCoverage {
  readonly record: CoverageRecord;
  readonly spans: readonly Span[];
}

/** The first count, or the next one. */
export function countCoverage(
  before: CoverageRecord | undefined,
  seen: SeenCoverage,
  moment: CoverageMoment,
): CountedCoverage {
  const { joined, ...nodes } = seen;
  const at = Math.floor(moment.untilMs / 1000);
  const seenOf = heard(moment);
  if (before === undefined) {
    const days = addToDay(undefined, at * 1000, []);
    return { record: { at, ...nodes, ...seenOf, days }, spans: [] };
  }
  const spans = spansSince(before, moment);
  const days = joined.reduce(
    (counts, bucket) => add(counts, Math.max(at, before.at), joinedAs(bucket)),
    addSpans(before, spans),
  );
  const reached = Math.max(at, before.at);
  return { record: { at: reached, ...nodes, ...seenOf, days }, spans };
}

/** Days with the time until that moment, for a reader who has seen nothing new. */
export function daysUntil(record: CoverageRecord, moment: CoverageMoment): DailyCounts {
  return addSpans(record, spansSince(record, moment));
}

/** A run was put off before it saw the view. */
export function putOff(
  record: CoverageRecord | undefined,
  nowMs: number,
): CoverageRecord | undefined {
  if (record?.putOffSince !== undefined) return record;
  return record && { ...record, putOffSince: Math.floor(nowMs / 1000) };
}

/** Node-seconds of these spans, each in its day. */
export function addSpans(
  { eligible, covered, days }: Pick<CoverageRecord, 'eligible' | 'covered' | 'days'>,
  spans: readonly Span[],
): DailyCounts {
  return spans.flatMap(byDay).reduce((counts, { from, to, isKnown }) => {
    const seconds = to - from;
    const columns = isKnown
      ? [covered * seconds, (eligible - covered) * seconds]
      : [0, 0, eligible * seconds];
    return add(counts, from, columns);
  }, days);
}

export function joinedAs(bucket: number): readonly number[] {
  return [...Array.from({ length: TIME_COLUMNS + bucket }, () => 0), 1];
}

function add(counts: DailyCounts, at: number, columns: readonly number[]): DailyCounts {
  return addToDay(counts, at * 1000, columns, STATE_DAYS_MAX);
}

function byDay(span: Span): readonly Span[] {
  const midnight = (Math.floor(span.from / DAY) + 1) * DAY;
  if (span.to <= midnight) return [span];
  return [{ ...span, to: midnight }, ...byDay({ ...span, from: midnight })];
}

function heard({
  unheardMs,
  broken,
}: CoverageMoment): Pick<CoverageRecord, 'unheardMs' | 'broken'> {
  return defined({
    unheardMs: unheardMs === 0 ? undefined : unheardMs,
    broken: broken === 0 ? undefined : broken,
  });
}
