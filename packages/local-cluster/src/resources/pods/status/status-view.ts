/**
 * The status view of pods: node agents write here, and only here.
 *
 * The spec, the owners and a deletion in progress are not theirs to change; class and observed generations stay when a
 * writer leaves them out.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import { keepSpec } from '../../shared/define-resource.ts';
import type { Subresource } from '../../shared/resource.ts';
import {
  isPresent,
  listAt,
  objectAt,
  textAt,
  withDefaults,
  withMember,
  withoutMember,
} from '../../shared/json-edit.ts';
import { validatePodStatusUpdate } from './status-validation.ts';

/** The subresource. */
export const POD_STATUS_VIEW: Subresource = {
  kind: 'view',
  name: 'status',
  prepareForUpdate,
  validateUpdate: validatePodStatusUpdate,
};

function prepareForUpdate(next: ApiObject, current: ApiObject): ApiObject {
  const kept = keepSpec(next, current);
  const metadata = keepMembers(kept.metadata, current.metadata, KEPT_METADATA);
  const status = keepObserved(objectAt(next, 'status'), objectAt(current, 'status'));
  if (metadata === kept.metadata && status === kept['status']) return kept;
  return { ...kept, metadata, status };
}

const KEPT_METADATA = ['ownerReferences', 'deletionTimestamp'];

function keepMembers<T extends JsonObject>(next: T, current: T, keys: readonly string[]): T {
  let result = next;
  for (const key of keys) {
    const value = current[key];
    result = value === undefined ? withoutMember(result, key) : withMember(result, key, value);
  }
  return result;
}

function keepObserved(next: JsonObject, current: JsonObject): JsonObject {
  let result = next;
  for (const key of ['qosClass', 'observedGeneration']) {
    const value = current[key];
    if (value !== undefined && !isPresent(result, key)) result = { ...result, [key]: value };
  }
  const conditions = keepConditionGenerations(
    listAt(result, 'conditions'),
    listAt(current, 'conditions'),
  );
  return conditions === result['conditions'] || conditions.length === 0
    ? result
    : withMember(result, 'conditions', conditions);
}

/** By type, the first with the first and so on: types may repeat. */
function keepConditionGenerations(
  next: readonly JsonObject[],
  current: readonly JsonObject[],
): readonly JsonObject[] {
  if (!current.some((condition) => condition['observedGeneration'] !== undefined)) return next;
  const left = [...current];
  let changed: JsonObject[] | undefined;
  for (const [index, condition] of next.entries()) {
    const match = left.findIndex((it) => textAt(it, 'type') === textAt(condition, 'type'));
    if (match < 0) continue;
    const [old] = left.splice(match, 1);
    const observedGeneration = old?.['observedGeneration'];
    if (observedGeneration === undefined) continue;
    const kept = withDefaults(condition, { observedGeneration });
    if (kept === condition) continue;
    changed ??= [...next];
    changed[index] = kept;
  }
  return changed ?? next;
}
