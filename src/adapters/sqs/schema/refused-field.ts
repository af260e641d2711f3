/**
 * The name of a refused field, fit for a log line and a dead letter (faults row 67).
 *
 * A path may end in a key that the sender chose: a closed schema refuses it by that very name. Such a key appears as
 * `?`, unless it looks like a field, and the whole is bounded.
 */
import type * as v from 'valibot';

const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/;
const SEGMENTS_MAX = 16;

/** Dotted path of what an issue is about; empty for the whole. */
export function refusedField(issue: v.BaseIssue<unknown>): string {
  const path = issue.path ?? [];
  const segments = path.slice(0, SEGMENTS_MAX).map(({ key }) => {
    const text = typeof key === 'string' || typeof key === 'number' ? String(key) : '?';
    return SEGMENT.test(text) ? text : '?';
  });
  return segments.join('.');
}
