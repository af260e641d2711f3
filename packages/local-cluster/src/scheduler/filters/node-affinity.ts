/** nodeSelector and required node affinity, matchFields included. */
import { labelOf } from '@rollcall/base/label-selector.ts';
import { hopeless } from './filter.ts';
import type { Filter } from './filter.ts';

const FAILURE = hopeless("node(s) didn't match Pod's node affinity/selector");

/** Labels and name of the node against the pod's selector and affinity. */
export const filterNodeAffinity: Filter = (pod, { projection }) => {
  for (const [label, value] of pod.nodeSelector) {
    if (labelOf(projection.labels, label) !== value) return FAILURE;
  }
  return pod.mismatchOf(projection) === undefined ? undefined : FAILURE;
};
