/**
 * Can a node's change let a pod in? Heartbeats and images cannot: they come often and must wake nobody.
 */
import { isDeepStrictEqual } from 'node:util';
import { viewNode } from '../controllers/shared/object-views.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** True when labels, taints, cordon, allocatable resources or the node's identity changed. */
export function movesPlacement(before: ApiObject, after: ApiObject): boolean {
  const left = viewNode(before);
  const right = viewNode(after);
  return (
    left.metadata.uid !== right.metadata.uid ||
    (left.spec !== right.spec && !isDeepStrictEqual(left.spec, right.spec)) ||
    !isDeepStrictEqual(left.metadata.labels, right.metadata.labels) ||
    !isDeepStrictEqual(left.status.allocatable, right.status.allocatable) ||
    left.metadata.deletionTimestamp !== right.metadata.deletionTimestamp
  );
}
