/**
 * Warnings about where a pod wants to be: selectors that match nothing, values that no label has, and labels of nodes
 * that have newer names.
 *
 * Nothing is refused here; the texts are the real server's, as kubectl prints them. Required terms are looked through
 * for keys only, since their values have been validated. Assumes a spec that has passed, or will pass, validation.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { at } from '../../shared/field-errors.ts';
import { listAt, objectAt, optionalObjectAt, textAt, textsAt } from '../../shared/json-edit.ts';
import { checkLabelValue } from '../../shared/names.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const NO_MATCH = 'a null labelSelector results in matching no pod';
const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    'failure-domain.beta.kubernetes.io/region',
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    'failure-domain.beta.kubernetes.io/zone',
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    'beta.kubernetes.io/instance-type',
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** Old labels of nodes in node selector, node affinity and spread constraints. */
export function deprecatedLabelWarnings(spec: JsonObject, field: string): readonly string[] {
  const affinity = objectAt(objectAt(spec, 'affinity'), 'nodeAffinity');
  const affinityField = `${field}.affinity.nodeAffinity`;
  const terms = listAt(objectAt(affinity, REQUIRED), 'nodeSelectorTerms');
  return [
    ...Object.keys(objectAt(spec, 'nodeSelector')).flatMap((key) => {
      const words = DEPRECATED_LABELS.get(key);
      return words === undefined ? [] : [`${field}.nodeSelector[${key}]: ${words}`];
    }),
    ...terms.flatMap((term, index) =>
      termWarnings(term, at(`${affinityField}.${REQUIRED}.nodeSelectorTerms`, index), 'keys'),
    ),
    ...listAt(affinity, PREFERRED).flatMap((preferred, index) =>
      termWarnings(
        objectAt(preferred, 'preference'),
        `${at(`${affinityField}.${PREFERRED}`, index)}.preference`,
        'keys and values',
      ),
    ),
    ...listAt(spec, 'topologySpreadConstraints').flatMap((constraint, index) =>
      spreadWarnings(constraint, at(`${field}.topologySpreadConstraints`, index)),
    ),
  ];
}

function termWarnings(
  term: JsonObject,
  field: string,
  checked: 'keys' | 'keys and values',
): readonly string[] {
  return listAt(term, 'matchExpressions').flatMap((expression, index) => {
    const place = at(`${field}.matchExpressions`, index);
    const key = textAt(expression, 'key');
    const words = DEPRECATED_LABELS.get(key);
    const warnings = words === undefined ? [] : [`${place}.key: ${key} is ${words}`];
    if (checked === 'keys') return warnings;
    for (const [valueIndex, value] of textsAt(expression, 'values').entries()) {
      const valueField = at(`${place}.values`, valueIndex);
      warnings.push(
        ...checkLabelValue(value).map((it) => `${valueField}: ${value} is invalid, ${it}`),
      );
    }
    return warnings;
  });
}

function spreadWarnings(constraint: JsonObject, field: string): readonly string[] {
  const key = textAt(constraint, 'topologyKey');
  const words = DEPRECATED_LABELS.get(key);
  const warnings = words === undefined ? [] : [`${field}.topologyKey: ${key} is ${words}`];
  if (optionalObjectAt(constraint, 'labelSelector') === undefined) {
    warnings.push(`${field}.labelSelector: ${NO_MATCH}`);
  }
  return warnings;
}

/** Terms about pods that select none. */
export function affinityWarnings(spec: JsonObject, field: string): readonly string[] {
  const affinity = objectAt(spec, 'affinity');
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const rules = objectAt(affinity, kind);
    const place = `${field}.affinity.${kind}`;
    return [
      ...listAt(rules, REQUIRED).flatMap((term, index) =>
        selectorWarning(term, at(`${place}.${REQUIRED}`, index)),
      ),
      ...listAt(rules, PREFERRED).flatMap((weighted, index) =>
        selectorWarning(
          objectAt(weighted, 'podAffinityTerm'),
          `${at(`${place}.${PREFERRED}`, index)}.podAffinityTerm`,
        ),
      ),
    ];
  });
}

function selectorWarning(term: JsonObject, field: string): readonly string[] {
  if (optionalObjectAt(term, 'labelSelector') !== undefined) return [];
  return [`${field}.labelSelector: ${NO_MATCH}`];
}
