/**
 * How old what a message says was when it was sent (ADR 0079), as an attribute of the queue's message.
 *
 * Set anew at each try, as a body may be taken an hour after it was frozen, and SentTimestamp says only when. SQS keeps the
 * attribute of the try that it took, which is the right one. What cannot be read counts as missing.
 */

/** Name of the attribute; its value is a whole number of milliseconds. */
export const CUT_AGE_ATTRIBUTE = 'rollcall-cut-age-ms';

/** Bytes that the attribute takes from a message at most: SQS counts name, type and value (aws-rules 9). */
export const CUT_AGE_BYTES_MAX = 64;

/** Older than anything a queue keeps: what says more is as old as that. */
const CUT_AGE_MS_MAX = 30 * 24 * 3_600_000;
const WHOLE_NUMBER = /^\d{1,15}$/;

/** The attributes of one try; none without an age. `ageMs` is bounded, never negative. */
export function cutAgeAttributes(
  ageMs: number | undefined,
): Record<string, { readonly DataType: string; readonly StringValue: string }> {
  if (ageMs === undefined) return {};
  const boundedMs = Math.min(Math.max(0, Math.ceil(ageMs)), CUT_AGE_MS_MAX);
  return { [CUT_AGE_ATTRIBUTE]: { DataType: 'Number', StringValue: String(boundedMs) } };
}

/** The age of what a received message says, milliseconds; undefined: unknown. */
export function readCutAgeMs(value: string | undefined): number | undefined {
  if (value === undefined || !WHOLE_NUMBER.test(value)) return undefined;
  return Math.min(Number(value), CUT_AGE_MS_MAX);
}
