/**
 * The policies for pods of a proven revision, for scripts/install/admission-policy.ts (docs/adr/0063).
 *
 * Derived from `rollcall-owner` of infra/admission/policy.yaml, so that a pod of a copy is compared by the same words as a
 * pod of the present template: only the parameter is another, and the label that says so is let through. Two things are
 * asked of such a pod: that it is the copy's (`rollcall-proven`, PodTemplates as parameters), and that its owner exists and
 * stays (`rollcall-proven-owner`, DaemonSets). Bound by name alone: a selector over parameters can be vacuous (ADR 0063).
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { COPY_LABEL } from '../../src/core/admission/template-copy.ts';

/** A policy as the file has it. */
export interface ShippedPolicy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly paramKind: { readonly apiVersion: string; readonly kind: string };
    readonly matchConstraints: object;
    readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly { readonly message: string; readonly expression: string }[];
  };
}

/** One of the labels that any pod may have beyond its template; the one of copies is put beside it. */
const LET_THROUGH = "'controller-revision-hash'";

/** A binding is of one copy by its name; this keeps the pods of DaemonSets with overlapping selectors apart. */
const COPY_OF_OWNER =
  'object.metadata.?ownerReferences.orValue([]).exists(o, params.metadata.name.startsWith(' +
  "(o.name.size() > 223 ? o.name.substring(0, 223) : o.name) + '-rollcall-proven-'))";

const OF_THE_SAME_OWNER =
  'object.metadata.ownerReferences.all(o, params.metadata.?ownerReferences.orValue([]).exists(c, ' +
  "c.uid == o.uid && c.name == o.name && c.kind == 'DaemonSet'))";

/** rollcall-owner as it is shipped. */
export function shippedOwnerPolicy(): ShippedPolicy {
  const text = readFileSync(new URL('../../infra/admission/policy.yaml', import.meta.url), 'utf8');
  const shipped = parseAllDocuments(text)
    .map((document) => document.toJS() as ShippedPolicy)
    .find(({ kind, metadata }) => metadata.name === 'rollcall-owner' && !kind.endsWith('Binding'));
  if (shipped === undefined) throw new Error('infra/admission/policy.yaml has no rollcall-owner');
  return shipped;
}

/** The comparison with the copy that a pod names. */
export function provenPolicy(owner: ShippedPolicy, name = 'rollcall-proven'): ShippedPolicy {
  const { spec } = owner;
  const variables = spec.variables.map((each) => reworded(each));
  const compared = spec.validations
    .filter(({ message }) => !message.startsWith('the owner'))
    .map((each) => reworded(each));
  const message = 'the copy that a pod of a proven revision names must be of its owner';
  return {
    ...owner,
    metadata: { name },
    spec: {
      ...spec,
      paramKind: { apiVersion: 'v1', kind: 'PodTemplate' },
      matchConditions: spec.matchConditions.map((condition) =>
        condition.name === 'owner' ? { ...condition, expression: COPY_OF_OWNER } : condition,
      ),
      variables,
      validations: [{ message, expression: OF_THE_SAME_OWNER }, ...compared],
    },
  };
}

/** That the owner of such a pod exists, under its UID, and is not being deleted. */
export function provenOwnerPolicy(owner: ShippedPolicy): ShippedPolicy {
  const validations = owner.spec.validations.filter(({ message }) =>
    message.startsWith('the owner'),
  );
  const metadata = { name: 'rollcall-proven-owner' };
  return { ...owner, metadata, spec: { ...owner.spec, variables: [], validations } };
}

function reworded<T extends { readonly expression: string }>(each: T): T {
  const expression = each.expression
    .replaceAll('params.spec.template', 'params.template')
    .replaceAll(LET_THROUGH, `${LET_THROUGH}, '${COPY_LABEL}'`);
  return { ...each, expression };
}
