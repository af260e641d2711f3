/**
 * L3 in numbers, as docs/promise.md grants it: beside a noisy cluster a change takes effect within three times the
 * latency alone, and a cluster that begins to hang adds five seconds, once. Both are measured in one run, on one machine:
 * a ratio. Pure.
 */

/** What the promise says. */
export const LATENCY_PROMISE = { factor: 3, onceMs: 5000 } as const;

/** Latencies of one run, in milliseconds. */
export interface Latencies {
  readonly alone: readonly number[];
  /** In the order of the changes, from the moment at which the other cluster began to hang. */
  readonly beside: readonly number[];
}

/** How the promise was broken, in words; nothing if it held. */
export function findLag({ alone, beside }: Latencies): readonly string[] {
  const { factor, onceMs } = LATENCY_PROMISE;
  const boundMs = factor * Math.max(...alone);
  const late = beside.filter((latencyMs) => !(latencyMs <= boundMs));
  const bound = `${String(factor)} times the worst of ${alone.map(Math.round).join()} ms alone`;
  const tooLate = late.filter((latencyMs) => !(latencyMs <= boundMs + onceMs));
  return [
    ...tooLate.map(
      (latencyMs) =>
        `${String(Math.round(latencyMs))} ms is beyond ${bound}, and ${String(onceMs)} ms`,
    ),
    ...(late.length > 1 ? [`${String(late.length)} changes were beyond ${bound}, not one`] : []),
  ];
}
