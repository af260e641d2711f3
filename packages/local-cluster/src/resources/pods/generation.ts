/**
 * What an update of a pod keeps and counts: the status, the priority that admission gave it, the generation.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { dropDisabledFields } from '../pod-spec/defaults/disabled-fields.ts';
import { keepStatus, withGeneration } from '../shared/define-resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { editObjectAt, isPresent, objectAt, withMember } from '../shared/json-edit.ts';
import { withDefaultTolerations } from './admission/default-tolerations.ts';

/** An update through the pod itself. */
export function preparePodUpdate(asked: ApiObject, current: ApiObject): ApiObject {
  const next = editObjectAt(asked, 'spec', dropDisabledFields);
  const admitted = withDefaultTolerations(keepPriority(keepStatus(next, current), current));
  return countGeneration(admitted, current);
}

/** Generation +1 when the spec differs (1.33 and newer). */
function countGeneration(next: ApiObject, current: ApiObject): ApiObject {
  if (equalJson(next['spec'], current['spec'])) return next;
  return withGeneration(next, (current.metadata.generation ?? 0) + 1);
}

function keepPriority(next: ApiObject, current: ApiObject): ApiObject {
  let spec = objectAt(next, 'spec');
  for (const key of ['priority', 'preemptionPolicy']) {
    const value = objectAt(current, 'spec')[key];
    if (value !== undefined && !isPresent(spec, key)) spec = { ...spec, [key]: value };
  }
  return withMember(next, 'spec', spec);
}
