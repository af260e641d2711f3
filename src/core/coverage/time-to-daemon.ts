/**
 * How long nodes that join wait for their pod, as counts in fixed buckets: days and DaemonSets are merged by adding.
 *
 * A percentile is the upper bound of its bucket, so it is never below the truth, and above it by the bucket's width at most.
 */

/** Upper bounds in seconds; the last bucket, of what took longer, has none. */
export const BUCKET_SECONDS = [
  2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1_800, 3_600, 21_600,
] as const;

/** How long it took, in the form of the document. Absent percentiles: of no node, or more than the last bound. */
export interface TimeToDaemon {
  readonly nodes: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly p99Ms?: number;
}

/** The bucket of a node that had its pod ready so many milliseconds after it was made. */
export function bucketOf(tookMs: number): number {
  const bucket = BUCKET_SECONDS.findIndex((seconds) => tookMs <= seconds * 1000);
  return bucket < 0 ? BUCKET_SECONDS.length : bucket;
}

export function timeToDaemon(counts: readonly number[]): TimeToDaemon {
  const nodes = counts.reduce((sum, count) => sum + count, 0);
  const at = (share: number): number | undefined => {
    let seen = 0;
    const bucket = counts.findIndex((count) => (seen += count) >= share * nodes);
    const bound = nodes === 0 ? undefined : BUCKET_SECONDS[bucket];
    return bound === undefined ? undefined : bound * 1000;
  };
  const percentiles = { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
  const told = Object.entries(percentiles).filter(([, bound]) => bound !== undefined);
  return { nodes, ...Object.fromEntries(told) };
}
