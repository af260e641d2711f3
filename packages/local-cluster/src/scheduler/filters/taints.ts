/** Taints NoSchedule and NoExecute that the pod does not tolerate keep it away. */
import { findUntoleratedTaint } from '@rollcall/base/taints.ts';
import { hopeless } from './filter.ts';
import type { Filter } from './filter.ts';

const FAILURE = hopeless('node(s) had untolerated taint(s)');

/** Taints by toleration; PreferNoSchedule keeps no pod away. */
export const filterTaints: Filter = ({ tolerations }, { projection: { taints } }) => {
  if (taints.length === 0) return undefined;
  const untolerated =
    findUntoleratedTaint({ taints, tolerations, effect: 'NoSchedule' }) ??
    findUntoleratedTaint({ taints, tolerations, effect: 'NoExecute' });
  return untolerated === undefined ? undefined : FAILURE;
};
