/**
 * Label selectors in a policy, as Kubernetes writes them.
 *
 * An empty one is refused: to Kubernetes it says all in one place and nothing in another. What passes, compileSelector
 * of the base takes.
 */
import * as v from 'valibot';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { RULES_MAX, VALUES_MAX, closed, field, listOf, needed, oneOf } from './schema-parts.ts';
import * as written from './written-values.ts';

const expression = v.pipe(
  closed(
    {
      key: needed(written.labelKey, 'The label.', 'pool'),
      operator: needed(
        oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
        'How the label is compared.',
        'In',
      ),
      values: field(
        listOf(written.labelValue, { countMax: VALUES_MAX, example: '[workers]' }),
        'Values of the label; none for Exists and DoesNotExist.',
        ['workers'],
      ),
    },
    '{key: pool, operator: In, values: [workers]}',
  ),
  v.check(
    (one) => compileSelector({ matchExpressions: [one] }).invalid === undefined,
    'needs values with In and NotIn, and none with Exists and DoesNotExist',
  ),
);

/** Which nodes, by their labels. */
export const selectorSchema = v.pipe(
  closed(
    {
      matchLabels: field(written.labelMap, 'Labels with their values.', { pool: 'workers' }),
      matchExpressions: field(
        listOf(expression, { countMax: RULES_MAX, example: '[{key: spot, operator: Exists}]' }),
        'Requirements of labels.',
        [{ key: 'spot', operator: 'Exists' }],
      ),
    },
    '{matchLabels: {pool: workers}}',
  ),
  v.check(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      Object.keys(matchLabels).length + matchExpressions.length > 0,
    'must name at least one label: an empty selector says nothing',
  ),
);
