/**
 * What a live read of a node says, in the terms of a projection.
 *
 * Live objects are raw JSON from an API server that we trust with its own cluster; a field of
 * another shape than documented simply counts as absent. Decides nothing.
 */
import { nodeName, resourceVersion, uid } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { KubernetesObject, Taint } from '../../core/model/kubernetes.ts';
import type { NodeProjection } from '../../core/model/projections.ts';

/** A raw node as the projection that a watcher would have made of it. */
export function projectLiveNode(node: KubernetesObject): NodeProjection {
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
