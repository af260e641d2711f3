/**
 * `matchLabelKeys` and `mismatchLabelKeys` of affinity terms and spread constraints: the values of a new pod's own
 * labels are written into the selectors beside them.
 *
 * Once, when the pod is created: later changes of its labels change no selector. A key that the pod has no label for,
 * and a term without a selector, are left as they are. Templates are not touched, since their pods' labels are not
 * known yet.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  editItemsAt,
  editObjectAt,
  listAt,
  objectAt,
  optionalObjectAt,
  textsAt,
} from '../shared/json-edit.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** The pod with its selectors completed; the same object when it uses no such keys. */
export function withLabelKeysApplied(pod: ApiObject): ApiObject {
  const labels = objectAt(pod.metadata, 'labels');
  const complete = (term: JsonObject): JsonObject => applyKeys(term, labels);
  return editObjectAt(pod, 'spec', (spec) => {
    const withAffinity = editObjectAt(spec, 'affinity', (affinity) =>
      ['podAffinity', 'podAntiAffinity'].reduce(
        (result, kind) => editObjectAt(result, kind, (it) => applyToTerms(it, complete)),
        affinity,
      ),
    );
    return editItemsAt(withAffinity, 'topologySpreadConstraints', complete);
  });
}

function applyToTerms(
  affinity: JsonObject,
  complete: (term: JsonObject) => JsonObject,
): JsonObject {
  return editItemsAt(editItemsAt(affinity, REQUIRED, complete), PREFERRED, (weighted) =>
    editObjectAt(weighted, 'podAffinityTerm', complete),
  );
}

function applyKeys(term: JsonObject, labels: JsonObject): JsonObject {
  const selector = optionalObjectAt(term, 'labelSelector');
  if (selector === undefined) return term;
  const added = [
    ...expressionsFor(textsAt(term, 'matchLabelKeys'), 'In', labels),
    ...expressionsFor(textsAt(term, 'mismatchLabelKeys'), 'NotIn', labels),
  ];
  if (added.length === 0) return term;
  const matchExpressions = [...listAt(selector, 'matchExpressions'), ...added];
  return { ...term, labelSelector: { ...selector, matchExpressions } };
}

function expressionsFor(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: JsonObject,
): readonly JsonObject[] {
  return keys.flatMap((key) => {
    const value = labels[key];
    return typeof value === 'string' ? [{ key, operator, values: [value] }] : [];
  });
}
