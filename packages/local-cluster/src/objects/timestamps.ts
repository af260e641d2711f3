/**
 * Times in objects: RFC 3339 in whole seconds (metav1.Time) and in microseconds (metav1.MicroTime), always in UTC.
 *
 * Pure conversions between texts and milliseconds since 1970; the clock itself is a port. JavaScript knows milliseconds
 * only, so the last three digits of a micro time that this process writes are zeros.
 */

const TIME_SHAPE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,](\d+))?(?:Z|[+-]\d{2}:\d{2})$/;

/** RFC 3339 in whole seconds, rounded down: `2026-01-31T23:59:59Z`. */
export function formatTime(timeMs: number): string {
  return `${new Date(Math.floor(timeMs / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with six digits after the point: `2026-01-31T23:59:59.123000Z`. */
export function formatMicroTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since 1970 of an RFC 3339 text, fractions of a millisecond dropped; undefined when it is none. */
export function parseTime(text: string): number | undefined {
  if (!TIME_SHAPE.test(text)) return undefined;
  const timeMs = Date.parse(text.replace(',', '.'));
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** The canonical text of a metav1.Time: UTC, whole seconds; undefined when it is no time. */
export function canonicalTime(text: string): string | undefined {
  const timeMs = parseTime(text);
  return timeMs === undefined ? undefined : formatTime(timeMs);
}

/** The canonical text of a metav1.MicroTime: UTC, six digits, finer ones dropped; undefined when it is no time. */
export function canonicalMicroTime(text: string): string | undefined {
  const timeMs = parseTime(text);
  if (timeMs === undefined) return undefined;
  const digits = TIME_SHAPE.exec(text)?.[1] ?? '';
  return `${formatTime(timeMs).slice(0, 19)}.${digits.slice(0, 6).padEnd(6, '0')}Z`;
}
