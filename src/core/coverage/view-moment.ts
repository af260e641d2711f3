/**
 * Of which moment a view is, for counting. Nodes and pods come by watches of their own: where one of them stands still, nodes of one moment
 * stand beside pods of another, and numbers of both together may never have been true.
 */
import type { ClusterMeta } from '../model/view-items.ts';
import { MISSED_AFTER_MS } from '../status/outages.ts';

/** By these it is decided which nodes are to have a pod, and which have one. */
const COUNTED = ['Node', 'Pod', 'DaemonSet'] as const;

type Heard = Pick<ClusterMeta, 'heardAtMs' | 'isCutOpen'>;

/**
 * When the newest that it shows was heard, milliseconds since 1970. Undefined: it is of no one moment, as a flush is half told, or as one
 * watch was heard of for longer than another one can be quiet (a bookmark comes each minute).
 */
export function momentOfView({ heardAtMs, isCutOpen }: Heard): number | undefined {
  const times = COUNTED.map((kind) => heardAtMs[kind] ?? Number.NEGATIVE_INFINITY);
  const newest = Math.max(...times);
  const isOfOne = newest - Math.min(...times) <= MISSED_AFTER_MS;
  return isOfOne && !isCutOpen ? newest : undefined;
}

/** Since when it shows less than a moment: a run that cannot count it now knows nothing from then on. */
export function doubtfulSince(meta: Heard, nowMs: number): number {
  if (momentOfView(meta) !== undefined) return nowMs;
  return Math.min(nowMs, ...COUNTED.map((kind) => meta.heardAtMs[kind] ?? 0));
}
