/**
 * Required node affinity of scenarios: `disk` and `cores` as label expressions, nodes by name as fields. A form changes
 * one of them and leaves the others. Pure.
 *
 * The API takes one value for each field: several nodes are several terms (In), or several fields of one (NotIn).
 */
import { nodeNameOf, type Place } from './place.ts';
import type { SetForm } from './scenario.ts';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly Term[];
    };
  };
}

const FIELD = 'metadata.name';

/** The affinity with what the form says; undefined where nothing is required. */
export function changeAffinity(before: unknown, form: SetForm, place: Place): unknown {
  const required = (before as Affinity | undefined)?.nodeAffinity;
  const terms = required?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const expressionOf = (key: string): readonly Requirement[] =>
    (terms[0]?.matchExpressions ?? []).filter((it) => it.key === key);
  const former = terms.flatMap((term) => term.matchFields ?? []);
  const expressions = [
    ...(form.disk === undefined ? expressionOf('disk') : diskExpression(form.disk)),
    ...(form.cores === undefined ? expressionOf('cores') : coresExpression(form.cores)),
  ];
  const fields = form.fields === undefined ? former : nodeFields(form.fields, place);
  const nodeSelectorTerms = termsOf(expressions, fields);
  if (nodeSelectorTerms.length === 0) return undefined;
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}

function diskExpression(disk: NonNullable<SetForm['disk']> | null): readonly Requirement[] {
  if (disk === null) return [];
  const { operator } = disk;
  const values = operator === 'In' || operator === 'NotIn' ? { values: ['ssd'] } : {};
  return [{ key: 'disk', operator, ...values }];
}

function coresExpression(cores: NonNullable<SetForm['cores']> | null): readonly Requirement[] {
  return cores === null ? [] : [{ key: 'cores', operator: cores.operator, values: [cores.value] }];
}

function nodeFields(
  fields: NonNullable<SetForm['fields']> | null,
  place: Place,
): readonly Requirement[] {
  const { operator = 'In', nodes = [] } = fields ?? {};
  return nodes.map((node) => ({ key: FIELD, operator, values: [nodeNameOf(place, node)] }));
}

function termsOf(
  expressions: readonly Requirement[],
  fields: readonly Requirement[],
): readonly Term[] {
  const matchExpressions = expressions.length === 0 ? {} : { matchExpressions: expressions };
  if (fields.length === 0) return expressions.length === 0 ? [] : [matchExpressions];
  const isOneTerm = fields.every(({ operator }) => operator === 'NotIn');
  const groups = isOneTerm ? [fields] : fields.map((field) => [field]);
  return groups.map((matchFields) => ({ ...matchExpressions, matchFields }));
}
