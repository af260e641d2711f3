/**
 * How old what a message says was when it was sent: a message attribute, set anew at each try (ADR 0032).
 *
 * A body is frozen once it was tried, and may be taken an hour later; SentTimestamp says only when it was taken. So the
 * age travels beside the body, which stays the same bytes under the same id. SQS keeps the attribute of the try that it
 * took, which is the right one. What is missing (a watcher of an earlier release) or no number counts as unknown.
 */
/** Name of the attribute; its value is a whole number of milliseconds. */
export const CUT_AGE_ATTRIBUTE = 'rollcall-cut-age-ms';

/** Bytes that the attribute takes from a message at most: SQS counts name, type and value (aws-rules 9). */
export const CUT_AGE_BYTES_MAX = 64;

/** Older than anything a queue keeps: what says more is as old as that. */
const CUT_AGE_MS_MAX = 30 * 24 * 3_600_000;
const WHOLE_NUMBER = /^\d{1,15}$/;

/** The attributes of one try; `ageMs` is bounded, never negative. */
export function cutAgeAttributes(
  ageMs: number,
): Record<string, { readonly DataType: 'Number'; readonly StringValue: string }> {
  const boundedMs = Math.min(Math.max(0, Math.ceil(ageMs)), CUT_AGE_MS_MAX);
  return { [CUT_AGE_ATTRIBUTE]: { DataType: 'Number', StringValue: String(boundedMs) } };
}

/** The age of what a received message says, milliseconds; undefined: unknown. */
export function readCutAgeMs(value: string | undefined): number | undefined {
  if (value === undefined || !WHOLE_NUMBER.test(value)) return undefined;
  return Math.min(Number(value), CUT_AGE_MS_MAX);
}
