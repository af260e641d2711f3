/**
 * Live reads of objects that travelled opaque (protocol 22): they concern their own set only.
 *
 * A pod or node that the watcher could not digest is read live and projected here. What cannot be
 * read makes the run defer: planning without it could place a second pod beside it. Opaque revisions
 * are left out: history is looked up live anyway when its revision is not seen.
 */
import { nodeName, resourceVersion, uid } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { KubernetesObject, Taint } from '../../core/model/kubernetes.ts';
import type { NodeProjection, PodProjection } from '../../core/model/projections.ts';
import type { ClusterReader } from '../../ports/cluster-access.ts';
import { projectLivePod } from './live-pod.ts';
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

function projectLiveNode(node: KubernetesObject): NodeProjection {
  const { metadata, spec, status } = node;
  const taints = isJsonObject(spec) && Array.isArray(spec['taints']) ? spec['taints'] : [];
  const conditions =
    isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  return {
    kind: 'Node',
    name: nodeName(metadata.name),
    uid: uid(metadata.uid),
    resourceVersion: resourceVersion(metadata.resourceVersion),
    labels: metadata.labels ?? {},
    taints: taints.filter(isJsonObject) as unknown as readonly Taint[], // as the API server has them
    unschedulable: isJsonObject(spec) && spec['unschedulable'] === true,
    isReady: conditions
      .filter(isJsonObject)
      .some((item) => item['type'] === 'Ready' && item['status'] === 'True'),
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
}
