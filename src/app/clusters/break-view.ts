/**
 * Makes a view incomplete by a loss, so that only a snapshot announced after it is believed (protocol 18).
 *
 * For whoever changes what the view may be used for: takeover, removal. A cluster that was never heard of
 * has nothing to break.
 */
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';

/** Attempts at a compare-and-set beside a busy ingest. */
const META_WRITES_MAX = 20;

/** Breaks the view; false when META never stood still. */
export async function breakView(
  view: Pick<ViewStore, 'readMeta' | 'writeMeta'>,
  clusterUid: ClusterUid,
  incompleteReason: string,
): Promise<boolean> {
  for (let attempt = 0; attempt < META_WRITES_MAX; attempt += 1) {
    const meta = await view.readMeta(clusterUid);
    if (meta === undefined) return true;
    const broken = meta.broken + 1;
    const next = { ...meta, isComplete: false, incompleteReason, broken };
    if ((await view.writeMeta(next)) === 'written') return true;
  }
  return false;
}
