/**
 * How long a cluster was in the dark: the sum of gaps in what is heard of its nodes and pods that were beyond the silence bound.
 *
 * META keeps the sum, by the message that ends a gap, so nothing is written for it. A soak subtracts what fell into it. Gaps up to the bound
 * are none: watches resume where they stopped, and what happened shows in the objects. Times are those of the queue (SentTimestamp).
 */
import type { ClusterMeta } from '../model/view-items.ts';

/** The bound of silence, as `silenceBoundMs` of a reconcile is by default (docs/protocol.md 1). */
export const DARK_AFTER_MS = 900_000;
/** Without these two a soak is blind. */
const NEEDED = ['Node', 'Pod'] as const;

/** The sum after a message by which the cluster was heard of at these times. */
export function unheardAfter(
  meta: Pick<ClusterMeta, 'heardAtMs' | 'unheardMs'>,
  heardAtMs: ClusterMeta['heardAtMs'],
): Pick<ClusterMeta, 'unheardMs'> {
  const gaps = NEEDED.map((kind) => {
    const before = meta.heardAtMs[kind];
    const now = heardAtMs[kind];
    return before === undefined || now === undefined ? 0 : now - before;
  });
  const gapMs = Math.max(...gaps);
  if (gapMs <= DARK_AFTER_MS)
    return meta.unheardMs === undefined ? {} : { unheardMs: meta.unheardMs };
  return { unheardMs: (meta.unheardMs ?? 0) + gapMs };
}
