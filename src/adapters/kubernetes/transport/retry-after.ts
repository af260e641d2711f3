/**
 * How long a server asks to be left alone: Retry-After, as seconds or as a date (RFC 9110 10.2.3).
 */

/** Milliseconds named by a Retry-After header; undefined when there is none that can be read. */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,6}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
