/**
 * Which terminated pods go when there are too many: evicted ones first, then the oldest. Pure.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { viewPod } from '../shared/object-views.ts';

/** The pods beyond the number that may stay. */
export function chooseTerminated(
  terminated: readonly ApiObject[],
  keptMax: number,
): readonly ApiObject[] {
  const surplus = terminated.length - keptMax;
  if (surplus <= 0) return [];
  return terminated.toSorted(compareByUse).slice(0, surplus);
}

function compareByUse(left: ApiObject, right: ApiObject): number {
  return (
    Number(isEvicted(right)) - Number(isEvicted(left)) ||
    compareText(left.metadata.creationTimestamp, right.metadata.creationTimestamp) ||
    compareText(left.metadata.name, right.metadata.name)
  );
}

function isEvicted(pod: ApiObject): boolean {
  const { phase, reason } = viewPod(pod).status;
  return phase === 'Failed' && reason === 'Evicted';
}
