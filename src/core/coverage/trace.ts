/**
 * How coverage was counted, in the log: each count with its spans, so that its days can be recomputed (`daysOfTraces`).
 *
 * Written with the state, as the count itself, so neither can be there without the other. A trace leaves with the log's entries.
 */
import type { DailyCounts } from '../cost/daily.ts';
import { addToDay } from '../cost/daily.ts';
import type { CoverageTrace } from '../model/log-entry.ts';
import type { CoverageRecord } from '../model/state.ts';
import { addSpans, joinedAs, type CountedCoverage } from './count-coverage.ts';
import type { Span } from './spans.ts';

/** A trace that found no item for so long begins anew. */
const NUMBERS_MAX = 600;
const DAYS_MAX = 400;

/** The trace with one more count. */
export function traceCount(
  trace: CoverageTrace | undefined,
  before: CoverageRecord | undefined,
  { record, spans, joined }: CountedCoverage & { readonly joined: readonly number[] },
): CoverageTrace | undefined {
  if (before === undefined) return trace;
  const { at, eligible, covered } = before;
  const kept = trace === undefined || isFull(trace) ? { at, eligible, covered, spans: [] } : trace;
  const added = spansAsNumbers(spans, {
    eligible: record.eligible - eligible,
    covered: record.covered - covered,
  });
  if (added.length === 0 && joined.length === 0) return trace;
  const pairs = joined.flatMap((bucket) => [record.at - kept.at, bucket]);
  const all = [...(kept.joined ?? []), ...pairs];
  const held = all.length === 0 ? {} : { joined: all };
  return { ...kept, spans: [...kept.spans, ...added], ...held };
}

function isFull({ spans, joined = [] }: CoverageTrace): boolean {
  return spans.length + joined.length > NUMBERS_MAX;
}

function spansAsNumbers(
  spans: readonly Span[],
  change: { readonly eligible: number; readonly covered: number },
): readonly number[] {
  const isChange = change.eligible !== 0 || change.covered !== 0;
  const lasting = spans.length === 0 && isChange ? [{ from: 0, to: 0, isKnown: true }] : spans;
  return lasting.flatMap(({ from, to, isKnown }, index) => {
    const isLast = index === lasting.length - 1;
    const seconds = isKnown ? to - from : from - to;
    return [seconds, isLast ? change.eligible : 0, isLast ? change.covered : 0];
  });
}

/**
 * These traces in the order of time, each once. One that left for an item before the write of its state was lost leaves once more, with
 * what was counted since: the longer one counts.
 */
export function tracesInOrder(traces: readonly CoverageTrace[]): readonly CoverageTrace[] {
  const ordered = traces.toSorted(
    (left, right) => left.at - right.at || endOfTraceMs(left) - endOfTraceMs(right),
  );
  return ordered.filter((trace, index) => {
    const next = ordered[index + 1];
    return next === undefined || !goesOnWith(trace, next);
  });
}

function goesOnWith(trace: CoverageTrace, next: CoverageTrace): boolean {
  const { at, eligible, covered, spans, joined = [] } = trace;
  const isOne = at === next.at && eligible === next.eligible && covered === next.covered;
  const begins = (part: readonly number[], whole: readonly number[] = []): boolean =>
    part.every((each, index) => each === whole[index]);
  return isOne && begins(spans, next.spans) && begins(joined, next.joined);
}

/** The days that these traces tell of, from the very same sums as they were counted by. Undefined: there is none. */
export function daysOfTraces(traces: readonly CoverageTrace[]): DailyCounts | undefined {
  return tracesInOrder(traces).reduce<DailyCounts | undefined>(
    (days, trace) => addTrace(days ?? addToDay(undefined, trace.at * 1000, []), trace),
    undefined,
  );
}

function addTrace(days: DailyCounts, { spans, joined = [], ...from }: CoverageTrace): DailyCounts {
  let counted = { ...from, days: addJoined(days, joined, { from: -1, to: 0, at: from.at }) };
  for (let index = 0; index < spans.length; index += 3) {
    const [seconds = 0, more = 0, served = 0] = spans.slice(index, index + 3);
    const { at } = counted;
    const to = at + Math.abs(seconds);
    const span = { from: at, to, isKnown: seconds >= 0 };
    const told = seconds === 0 ? counted.days : addSpans(counted, [span]);
    const passed = { from: at - from.at, to: to - from.at, at: from.at };
    counted = {
      at: to,
      eligible: counted.eligible + more,
      covered: counted.covered + served,
      days: addJoined(told, joined, passed),
    };
  }
  return counted.days;
}

/** Nodes that joined after `from` and until `to`, in seconds after `at`. */
function addJoined(
  days: DailyCounts,
  joined: readonly number[],
  { from, to, at }: { readonly from: number; readonly to: number; readonly at: number },
): DailyCounts {
  return joined.reduce((sum, seconds, index) => {
    if (index % 2 === 1 || seconds <= from || seconds > to) return sum;
    return addToDay(sum, (at + seconds) * 1000, joinedAs(joined[index + 1] ?? 0), DAYS_MAX);
  }, days);
}

/** When a trace ends, milliseconds since 1970. */
export function endOfTraceMs({ at, spans }: CoverageTrace): number {
  const seconds = spans.filter((_, index) => index % 3 === 0);
  return (at + seconds.reduce((sum, each) => sum + Math.abs(each), 0)) * 1000;
}
