/**
 * The pods of each node, from the mirror of pods: an index, so that no controller scans all pods for one node.
 *
 * Unbound pods are in no node's set. A pod never moves between nodes, but a name may be used again elsewhere.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import type { Mirrors } from './mirrors.ts';
import { keyOf, nodeNameOf } from './object-views.ts';

/** The index. */
export interface PodsByNode {
  readonly podsOn: (nodeName: string) => readonly ApiObject[];
  /** Names of nodes that have pods, whether or not the node exists. */
  readonly nodeNames: () => Iterable<string>;
}

/** Builds the index and keeps it. */
export function createPodsByNode(mirrors: Mirrors): PodsByNode {
  const podsByNode = new Map<string, Map<string, ApiObject>>();
  const forget = (pod: ApiObject): void => {
    const nodeName = nodeNameOf(pod);
    if (nodeName === undefined) return;
    const pods = podsByNode.get(nodeName);
    pods?.delete(keyOf(pod));
    if (pods?.size === 0) podsByNode.delete(nodeName);
  };
  const remember = (pod: ApiObject): void => {
    const nodeName = nodeNameOf(pod);
    if (nodeName === undefined) return;
    const pods = podsByNode.get(nodeName) ?? new Map<string, ApiObject>();
    pods.set(keyOf(pod), pod);
    podsByNode.set(nodeName, pods);
  };
  mirrors.of('pods').subscribe(({ type, object, previous }) => {
    if (previous !== undefined && nodeNameOf(previous) !== nodeNameOf(object)) forget(previous);
    if (type === 'DELETED') forget(object);
    else remember(object);
  });
  return {
    podsOn: (nodeName) => [...(podsByNode.get(nodeName)?.values() ?? [])],
    nodeNames: () => podsByNode.keys(),
  };
}
