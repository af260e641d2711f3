/**
 * The nodes of a cluster that has few of them, as its view shows them: META and one slice of one moment, so in one request.
 *
 * More slices than one are of hundreds of nodes: nobody asks here about such a cluster. Asks no cluster, and decides nothing.
 */
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { NodeProjection } from '../../../core/model/projections.ts';
import type { ViewReader } from '../../../ports/stores/view-store.ts';

/** Its nodes, and when its watcher was heard last. */
export interface FewNodes {
  readonly nodes: readonly NodeProjection[];
  readonly heardAtMs: number;
}

/** Undefined: its view is not whole, it has more nodes, or one of them cannot be told. Rejects when the table fails. */
export async function readFewNodes(
  clusterUid: ClusterUid,
  view: Pick<ViewReader, 'readMeta' | 'readSlice'>,
): Promise<FewNodes | undefined> {
  const [meta, slice] = await Promise.all([
    view.readMeta(clusterUid),
    view.readSlice({ clusterUid, set: 'nodes', index: 0 }),
  ]);
  if (meta?.isComplete !== true || meta.sliceCount !== 1 || slice === undefined) return undefined;
  const nodes = slice.objects.flatMap(({ object }) => (object.kind === 'Node' ? [object] : []));
  if (nodes.length < slice.objects.length) return undefined;
  return { nodes, heardAtMs: meta.lastSentAtMs };
}
