/**
 * Live reads of objects that travelled opaque (protocol 22): they concern their own set only.
 *
 * A pod or node that the watcher could not digest is read live and projected here. What cannot be
 * read makes the run defer: planning without it could place a second pod beside it. Opaque revisions
 * are left out: history is looked up live anyway when its revision is not seen.
 */
import type { NodeProjection, PodProjection } from '../../../core/model/projections.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { projectLiveNode, projectLivePod } from '../../../core/projections/project-live.ts';
import type { ReadView } from './read-view.ts';

/** The view with its opaque objects resolved, or why they could not be. */
export type OpaqueResolution =
  | { readonly kind: 'resolved'; readonly read: ReadView }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Reads opaque pods and nodes live. */
export async function resolveOpaque(
  read: ReadView,
  reader: ClusterReader | undefined,
): Promise<OpaqueResolution> {
  const open = read.opaque.filter(({ of }) => of === 'Pod' || of === 'Node');
  if (open.length === 0) return { kind: 'resolved', read };
  if (reader === undefined) {
    return { kind: 'unavailable', message: `${open.length} objects could not be digested` };
  }
  const nodes: NodeProjection[] = [...read.nodes];
  const pods: PodProjection[] = [...read.pods];
  for (const item of open) {
    const { name, namespace = '' } = item;
    const live =
      item.of === 'Node' ? await reader.getNode(name) : await reader.getPod({ namespace, name });
    if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
    if (live.kind === 'missing' || live.object.metadata.uid !== item.uid) continue;
    if (item.of === 'Node') nodes.push(projectLiveNode(live.object));
    else pods.push(projectLivePod(live.object));
  }
  return { kind: 'resolved', read: { ...read, nodes, pods, opaque: [] } };
}
