/**
 * Required node affinity: does a node match (spec 2.5)?
 *
 * Terms are ORed; inside a term all expressions and fields are ANDed; a term without any matches
 * nothing, and so does an empty list of terms. A term that cannot be parsed never matches, and is
 * only reported if no other term matches. Absent required block: every node matches.
 */
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from './objects.ts';
import { parseInteger } from './integer.ts';
import { compileExpression, labelOf } from './label-selector.ts';
import type { Labels } from './label-selector.ts';

/** What affinity reads of a node. */
export interface AffinityNode {
  readonly name: string;
  readonly labels: Labels;
}

/** Why a node does not match; `detail` lists the terms, or what is wrong with them. */
export type AffinityMismatch =
  | { readonly code: 'NodeAffinityInvalid'; readonly detail: string }
  | {
      readonly code: 'NodeAffinityMismatch';
      readonly detail: string;
      /** Keys of the labels that the terms ask for. */
      readonly labels: readonly string[];
    };

/** Undefined when the node matches, else why it does not. */
export type AffinityMatcher = (node: AffinityNode) => AffinityMismatch | undefined;

type Predicate = (node: AffinityNode) => boolean;

/** Compiles the required node affinity of a pod spec. */
export function compileNodeAffinity(spec: PodSpec): AffinityMatcher {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined || required === null) return () => undefined;
  const terms = (required.nodeSelectorTerms ?? []).filter((term) => !isEmptyTerm(term));
  const predicates: Predicate[] = [];
  const faults: string[] = [];
  for (const term of terms) {
    const compiled = compileTerm(term);
    if (typeof compiled === 'string') faults.push(compiled);
    else predicates.push(compiled);
  }
  const mismatch: AffinityMismatch =
    faults.length > 0
      ? { code: 'NodeAffinityInvalid', detail: faults.join('; ') }
      : { code: 'NodeAffinityMismatch', detail: describeTerms(terms), labels: labelsOf(terms) };
  return (node) => (predicates.some((matches) => matches(node)) ? undefined : mismatch);
}

function isEmptyTerm(term: NodeSelectorTerm): boolean {
  return (term.matchExpressions ?? []).length === 0 && (term.matchFields ?? []).length === 0;
}

function compileTerm(term: NodeSelectorTerm): Predicate | string {
  const predicates: Predicate[] = [];
  const faults: string[] = [];
  const compiled = [
    ...(term.matchExpressions ?? []).map(compileLabelRequirement),
    ...(term.matchFields ?? []).map(compileFieldRequirement),
  ];
  for (const each of compiled) {
    if (typeof each === 'string') faults.push(each);
    else predicates.push(each);
  }
  if (faults.length > 0) return faults.join('; ');
  return (node) => predicates.every((matches) => matches(node));
}

function compileLabelRequirement(requirement: NodeSelectorRequirement): Predicate | string {
  const { key, operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt') {
    const matches = compileExpression(requirement);
    return typeof matches === 'string' ? matches : (node) => matches(node.labels);
  }
  const [text] = values;
  if (text === undefined || values.length !== 1)
    return `operator ${operator} of ${key} needs one value`;
  const bound = parseInteger(text);
  if (bound === undefined) return `operator ${operator} of ${key} needs an integer, not "${text}"`;
  return (node) => {
    // Stryker disable next-line StringLiteral: any text that is no integer says the same as an absent label
    const value = parseInteger(labelOf(node.labels, key) ?? '');
    if (value === undefined) return false;
    return operator === 'Gt' ? value > bound : value < bound;
  };
}

function compileFieldRequirement(requirement: NodeSelectorRequirement): Predicate | string {
  const { key, operator, values = [] } = requirement;
  const [value] = values;
  if (key !== 'metadata.name') return `field ${key} is not known`;
  if (values.length !== 1) return `field ${key} needs one value`;
  if (operator === 'In') return (node) => node.name === value;
  if (operator === 'NotIn') return (node) => node.name !== value;
  return `operator ${operator} of field ${key} is not known`;
}

function labelsOf(terms: readonly NodeSelectorTerm[]): readonly string[] {
  const keys = terms.flatMap(({ matchExpressions }) => matchExpressions ?? []);
  return [...new Set(keys.map(({ key }) => key))];
}

function describeTerms(terms: readonly NodeSelectorTerm[]): string {
  if (terms.length === 0) return 'it has no term, so it matches no node';
  return terms
    .map((term) =>
      [...(term.matchExpressions ?? []), ...(term.matchFields ?? [])]
        .map(({ key, operator, values = [] }) =>
          values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(', ')}]`,
        )
        .join(' and '),
    )
    .join(' or ');
}
