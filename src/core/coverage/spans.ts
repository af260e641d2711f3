/**
 * Which part of the time since coverage was counted last is known, and which is not. Whole seconds since 1970.
 *
 * Between two runs nothing changed that was told, since a change brings a run within MISSED_AFTER_MS. That is not so while the functions
 * were stopped or did not come, while the watcher was silent, after a message was lost, and while runs were put off: that is unknown.
 */
import type { CoverageRecord } from '../model/state.ts';
import { MISSED_AFTER_MS, SILENT_AFTER_MS, type StopSpan } from '../status/outages.ts';

export interface CoverageMoment {
  readonly nowMs: number;
  /** Until when is counted: of a run the time of its view, of a reader the present. */
  readonly untilMs: number;
  /** When the last message of the watcher was sent. */
  readonly lastSentAtMs: number;
  /** META's sum of times in the dark. */
  readonly unheardMs: number;
  /** META's count of losses; absent: the view is not whole now. */
  readonly broken?: number | undefined;
  readonly stops: readonly StopSpan[];
  /** When a run should have come; absent: no such time is known. */
  readonly dueAtMs?: number | undefined;
  /** When the last snapshot was announced, which mends what was lost before; absent: none was. */
  readonly wholeSinceMs?: number | undefined;
}

/** A part of the time; never empty. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly isKnown: boolean;
}

/** The time since `record` in spans that touch, the oldest first. */
export function spansSince(record: CoverageRecord, moment: CoverageMoment): readonly Span[] {
  const { at } = record;
  const now = Math.max(at, Math.floor(moment.untilMs / 1000));
  const unknown = unknownSpans(record, moment).map(([from, to]): [number, number] => [
    Math.max(at, Math.floor(from / 1000)),
    Math.min(now, Math.ceil(to / 1000)),
  ]);
  const spans = fillSpans(at, now, unknown);
  // A silence that is over is told by its length alone.
  const heardOfMs = Math.max(0, moment.unheardMs - (record.unheardMs ?? 0));
  return withoutLast(spans, Math.ceil(heardOfMs / 1000));
}

function unknownSpans(
  { at, putOffSince, broken = 0 }: CoverageRecord,
  { nowMs, wholeSinceMs = nowMs, ...moment }: CoverageMoment,
): readonly StopSpan[] {
  const since = (fromMs: number | undefined, afterMs: number): readonly StopSpan[] =>
    fromMs !== undefined && nowMs - fromMs > afterMs ? [[fromMs, nowMs]] : [];
  const { lastSentAtMs, stops, dueAtMs } = moment;
  // What was lost may have been of any time since the last count.
  const lost: readonly StopSpan[] = moment.broken === broken ? [] : [[at * 1000, wholeSinceMs]];
  return [
    ...stops,
    ...lost,
    ...since(lastSentAtMs, SILENT_AFTER_MS),
    ...since(dueAtMs, MISSED_AFTER_MS),
    ...since(putOffSince === undefined ? undefined : putOffSince * 1000, MISSED_AFTER_MS),
  ];
}

/** All of the time, with these parts of it unknown; they may overlap. */
function fillSpans(
  from: number,
  to: number,
  unknown: readonly (readonly [number, number])[],
): readonly Span[] {
  const spans: Span[] = [];
  let reached = from;
  for (const [begins, ends] of [...unknown].sort((left, right) => left[0] - right[0])) {
    if (begins >= ends || ends <= reached) continue;
    if (begins > reached) spans.push({ from: reached, to: begins, isKnown: true });
    spans.push({ from: Math.max(begins, reached), to: ends, isKnown: false });
    reached = ends;
  }
  return reached < to ? [...spans, { from: reached, to, isKnown: true }] : spans;
}

/** So many of the last known seconds are unknown as well. */
function withoutLast(spans: readonly Span[], seconds: number): readonly Span[] {
  let left = seconds;
  return spans
    .toReversed()
    .flatMap((span): readonly Span[] => {
      const taken = span.isKnown ? Math.min(left, span.to - span.from) : 0;
      left -= taken;
      if (taken === 0) return [span];
      const cut = span.to - taken;
      const gone: Span = { from: cut, to: span.to, isKnown: false };
      return cut === span.from ? [gone] : [gone, { ...span, to: cut }];
    })
    .toReversed();
}
