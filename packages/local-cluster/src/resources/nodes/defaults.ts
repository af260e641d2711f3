/**
 * Defaults of Nodes: what is allocatable, when only the capacity is said; the first of several pod CIDRs.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { roundUpResourceList } from '../shared/resource-lists.ts';
import { editObjectAt, isPresent, textAt, textsAt } from '../shared/json-edit.ts';

/** Fills in what a Node lacks; the same object when it lacks nothing. */
export function applyNodeDefaults(object: ApiObject): ApiObject {
  const withStatus = editObjectAt(object, 'status', (status) => {
    const rounded = editObjectAt(
      editObjectAt(status, 'capacity', roundUpResourceList),
      'allocatable',
      roundUpResourceList,
    );
    if (isPresent(rounded, 'allocatable') || rounded['capacity'] === undefined) return rounded;
    return { ...rounded, allocatable: rounded['capacity'] };
  });
  return editObjectAt(withStatus, 'spec', (spec) => {
    const single = textAt(spec, 'podCIDR');
    const [first = ''] = textsAt(spec, 'podCIDRs');
    if (single === first) return spec;
    // The single field is the older one and wins when they differ.
    return single === '' ? { ...spec, podCIDR: first } : { ...spec, podCIDRs: [single] };
  });
}
