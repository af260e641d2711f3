/**
 * What is counted for `rollcall cost` (ADR 0082): of messages in META, of runs in the state of each DaemonSet.
 *
 * Both are written anyway; a run that writes nothing is not counted.
 */
import { addToDay, sumDays, type DailyCounts } from './daily.ts';

/** Messages of a cluster, and write units of what they changed, META apart. */
export interface MessageCounts {
  readonly messages: number;
  readonly sliceUnits: number;
}

/** Runs of a DaemonSet that wrote its state: those that made or deleted pods, and those that looked. */
export interface RunCounts {
  readonly looks: number;
  readonly lookMs: number;
  readonly acts: number;
  readonly actMs: number;
}

/** Counted over so many hours, and when it was counted last. */
export interface Counted<Counts> {
  readonly counts: Counts;
  readonly hours: number;
  readonly lastAtMs?: number;
}

/** With one more message. */
export function addMessage(
  days: DailyCounts | undefined,
  message: { readonly atMs: number; readonly sliceUnits: number },
): DailyCounts {
  return addToDay(days, message.atMs, [1, message.sliceUnits]);
}

/** What one write adds to the run that it is of. */
export interface RunPart {
  readonly atMs: number;
  readonly kind: 'look' | 'act';
  readonly part: 'first' | 'further';
  /** Since the part before it. */
  readonly durationMs: number;
}

/** With one more write of a run. */
export function addRun(days: DailyCounts | undefined, run: RunPart): DailyCounts {
  const counted = [run.part === 'first' ? 1 : 0, Math.round(Math.max(0, run.durationMs))];
  return addToDay(days, run.atMs, run.kind === 'look' ? counted : [0, 0, ...counted]);
}

/** Messages of the last days; undefined: nothing was counted yet. */
export function messagesCounted(
  days: DailyCounts | undefined,
  nowMs: number,
): Counted<MessageCounts> | undefined {
  const sum = sumDays(days, nowMs);
  if (sum === undefined) return undefined;
  const { columns, ...over } = sum;
  const [messages = 0, sliceUnits = 0] = columns;
  return { ...over, counts: { messages, sliceUnits } };
}

/** Runs of the last days; undefined: nothing was counted yet. */
export function runsCounted(
  days: DailyCounts | undefined,
  nowMs: number,
): Counted<RunCounts> | undefined {
  const sum = sumDays(days, nowMs);
  if (sum === undefined) return undefined;
  const { columns, ...over } = sum;
  const [looks = 0, lookMs = 0, acts = 0, actMs = 0] = columns;
  return { ...over, counts: { looks, lookMs, acts, actMs } };
}
