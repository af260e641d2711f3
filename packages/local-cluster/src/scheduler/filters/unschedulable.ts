/** A cordoned node takes only pods that tolerate the taint of cordoned nodes. */
import { toleratesTaint } from '@rollcall/base/taints.ts';
import type { Taint } from '@rollcall/base/objects.ts';
import { hopeless } from './filter.ts';
import type { Filter } from './filter.ts';

const TAINT: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const FAILURE = hopeless('node(s) were unschedulable');

/** spec.unschedulable, by toleration. */
export const filterUnschedulable: Filter = (pod, { projection }) => {
  if (!projection.unschedulable) return undefined;
  const isTolerated = pod.tolerations.some((toleration) => toleratesTaint(toleration, TAINT));
  return isTolerated ? undefined : FAILURE;
};
