/**
 * Has the API server become slow since a rollout began, as our own requests see it (ADR 0055)?
 *
 * A request of a kind is compared with earlier ones of the same kind: quarters of a minute before the first pod of the revision
 * could run, against those since. It is slow where at least six of the last ten minutes' quarters are known, three in four of them took four
 * times as long as the middle one before, half a second longer, and longer than the slowest tenth before. So one outlier,
 * a far network, and a server that was slow before, halt nothing. With fewer than six on a side it says nothing.
 *
 * It cannot tell whose fault it is: whatever made the server slow in these minutes, to go on would add to it. Times are of our
 * own clocks; samples are added by runs that write the record anyway (app/reconcile/end), so a quiet cluster costs no write.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { AnswerSample, AnswerSamples, RolloutRecord } from '../model/rollout-record.ts';
import type { AnswerTiming } from '../model/projections.ts';

/** Samples of one kind that are kept of either side: the newest. */
export const SAMPLES_MAX = 12;
/** Kinds of requests that are kept: some 3 KB of a record, all told. */
export const KINDS_MAX = 8;
/** So many are needed on either side. */
const SAMPLES_MIN = 6;
/** Older answers do not show how the server is now. */
const RECENT_MS = 600_000;
const QUARTER_MS = 15_000;
const SLOWER_TIMES = 4;
const SLOWER_BY_MS = 500;
/** Of the recent samples so many, in percent, have to be beyond the limit. */
const SLOW_PERCENT = 75;
const SLOWEST_PERCENT = 90;

export interface SlowAnswers {
  readonly kind: string;
  /** Medians of the time to answer, before and since. */
  readonly beforeMs: number;
  readonly sinceMs: number;
  /** Quarters of a minute in which there was one. */
  readonly beforeCount: number;
  readonly sinceCount: number;
}

/** From when on requests are compared with those before: the first step, or the order that overruled what they showed. */
function comparedFromMs({
  triedAtMs,
  orders,
}: Pick<RolloutRecord, 'triedAtMs' | 'orders'>): number | undefined {
  const { resumed } = orders;
  if (triedAtMs === undefined || resumed?.breach.cause !== 'ApiServerSlow') return triedAtMs;
  return Math.max(triedAtMs, resumed.atMs);
}

/** The record with what was measured since; the very same if there is nothing new. */
export function noteAnswers(
  record: RolloutRecord,
  timings: readonly AnswerTiming[],
): RolloutRecord {
  const known = record.answers ?? {};
  const answers = addAnswers(known, timings, comparedFromMs(record));
  return answers === known ? record : { ...record, answers };
}

/** The API server's slowness by the record; undefined: none. */
export function judgeAnswers(record: RolloutRecord, nowMs: number): SlowAnswers | undefined {
  const sinceMs = comparedFromMs(record);
  if (record.answers === undefined || sinceMs === undefined) return undefined;
  return findSlowAnswers(record.answers, { sinceMs, nowMs });
}

/** Samples with those of new measurements; `fromMs`: from when on they are compared with those before. */
export function addAnswers(
  samples: AnswerSamples,
  timings: readonly AnswerTiming[],
  fromMs: number | undefined,
): AnswerSamples {
  const byKind = Map.groupBy(timings, ({ kind }) => kind);
  let next = samples;
  for (const kind of [...byKind.keys()].sort(compareText)) {
    const known = Object.hasOwn(next, kind) ? (next[kind] ?? []) : undefined;
    if (known === undefined && Object.keys(next).length >= KINDS_MAX) continue;
    const fresh = newSamples(known ?? [], byKind.get(kind) ?? []);
    if (fresh.length === 0) continue;
    next = { ...next, [kind]: keepNewest([...(known ?? []), ...fresh], fromMs) };
  }
  return next;
}

/** One for each quarter of a minute after the last one that is known. */
function newSamples(
  known: readonly AnswerSample[],
  timings: readonly AnswerTiming[],
): readonly AnswerSample[] {
  const [lastMs = -1] = known.at(-1) ?? [];
  const quarters = Map.groupBy(timings, ({ atMs }) => Math.floor(atMs / QUARTER_MS) * QUARTER_MS);
  return [...quarters]
    .filter(([quarterMs]) => quarterMs > lastMs)
    .sort(([left], [right]) => left - right)
    .map(([quarterMs, of]) => [quarterMs, Math.round(middle(of.map(({ tookMs }) => tookMs)))]);
}

function keepNewest(
  samples: readonly AnswerSample[],
  fromMs: number | undefined,
): readonly AnswerSample[] {
  const { before, since } = splitAt(samples, fromMs ?? Infinity);
  return [...before.slice(-SAMPLES_MAX), ...since.slice(-SAMPLES_MAX)];
}

/** The samples as those of a rollout that begins: all of them were before it. */
export function answersBefore(samples: AnswerSamples): AnswerSamples {
  const kept = Object.entries(samples).map(([kind, of]) => [kind, keepNewest(of, undefined)]);
  return Object.fromEntries(kept) as AnswerSamples; // the same keys, shorter lists
}

function splitAt(
  samples: readonly AnswerSample[],
  atMs: number,
): { readonly before: readonly AnswerSample[]; readonly since: readonly AnswerSample[] } {
  return {
    before: samples.filter(([quarterMs]) => quarterMs < atMs),
    since: samples.filter(([quarterMs]) => quarterMs >= atMs),
  };
}

/** The kind that became slowest since then; undefined: none did, or too little is known. */
export function findSlowAnswers(
  samples: AnswerSamples,
  at: { readonly sinceMs: number; readonly nowMs: number },
): SlowAnswers | undefined {
  const slow = Object.entries(samples).flatMap(([kind, of]) => {
    const found = judgeKind(kind, of, at);
    return found === undefined ? [] : [found];
  });
  const [first] = slow.sort(
    (left, right) => right.sinceMs - left.sinceMs || compareText(left.kind, right.kind),
  );
  return first;
}

function judgeKind(
  kind: string,
  samples: readonly AnswerSample[],
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): SlowAnswers | undefined {
  const sides = splitAt(samples, sinceMs);
  const before = tookOf(sides.before);
  const since = tookOf(sides.since.filter(([quarterMs]) => nowMs - quarterMs <= RECENT_MS));
  if (before.length < SAMPLES_MIN || since.length < SAMPLES_MIN) return undefined;
  const usual = middle(before);
  const limitMs = Math.max(
    usual * SLOWER_TIMES,
    usual + SLOWER_BY_MS,
    quantile(before, SLOWEST_PERCENT),
  );
  const slowCount = since.filter((tookMs) => tookMs > limitMs).length;
  if (slowCount * 100 < since.length * SLOW_PERCENT) return undefined;
  return {
    kind,
    beforeMs: usual,
    sinceMs: middle(since),
    beforeCount: before.length,
    sinceCount: since.length,
  };
}

function tookOf(samples: readonly AnswerSample[]): readonly number[] {
  return samples.map(([, tookMs]) => tookMs);
}

/** The middle one; of an even number the lower of the two. */
function middle(values: readonly number[]): number {
  return quantile(values, 50);
}

/** The smallest value that so many percent do not exceed. */
function quantile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}
