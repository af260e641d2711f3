/**
 * Label selectors: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas.
 *
 * A selector is parsed once per request into a predicate. As in Kubernetes, `!=` and `notin` also select what lacks the label.
 * Differs from Kubernetes: numbers are not compared (`a>1`).
 */
import { checkLabelValue, checkQualifiedName } from '../../resources/shared/names.ts';

/** The labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** A predicate, or why the text is no selector. */
export type LabelSelectorOutcome =
  | { readonly kind: 'selector'; readonly matches: (labels: Labels) => boolean }
  | { readonly kind: 'malformed'; readonly message: string };

interface Requirement {
  readonly key: string;
  /** Of the label: any of these, or any at all. */
  readonly values?: ReadonlySet<string>;
  readonly isNegated: boolean;
}

/** A comma that no parenthesis is open around. */
const BETWEEN = /,(?![^(]*\))/;
const SET = /^\s*([^\s(),=!<>]+)\s+(in|notin)\s*\(([^()]*)\)\s*$/;
const COMPARISON = /^\s*([^\s(),=!<>]+)\s*(==|=|!=)\s*([^\s(),=!<>]*)\s*$/;
const EXISTENCE = /^\s*(!?)\s*([^\s(),=!<>]+)\s*$/;

/** Parses a label selector; the empty text selects everything. */
export function parseLabelSelector(text: string): LabelSelectorOutcome {
  const requirements: Requirement[] = [];
  for (const part of text.trim() === '' ? [] : text.split(BETWEEN)) {
    const requirement = requirementOf(part);
    const fault = requirement === undefined ? `found '${part}'` : faultOf(requirement);
    if (requirement === undefined || fault !== undefined) {
      return { kind: 'malformed', message: `unable to parse requirement: ${fault ?? ''}` };
    }
    requirements.push(requirement);
  }
  return {
    kind: 'selector',
    matches: (labels) => requirements.every((requirement) => isMet(requirement, labels)),
  };
}

function requirementOf(part: string): Requirement | undefined {
  const [, listKey, listOperator, list] = SET.exec(part) ?? [];
  if (listKey !== undefined) {
    const values = new Set((list ?? '').split(',').map((value) => value.trim()));
    return { key: listKey, values, isNegated: listOperator === 'notin' };
  }
  const [, key, operator, value = ''] = COMPARISON.exec(part) ?? [];
  if (key !== undefined) return { key, values: new Set([value]), isNegated: operator === '!=' };
  const [, not, existing] = EXISTENCE.exec(part) ?? [];
  return existing === undefined ? undefined : { key: existing, isNegated: not === '!' };
}

function faultOf({ key, values = new Set() }: Requirement): string | undefined {
  const [inKey] = checkQualifiedName(key);
  if (inKey !== undefined) return `key: Invalid value: "${key}": ${inKey}`;
  for (const value of values) {
    const [problem] = checkLabelValue(value);
    if (problem !== undefined) return `values: Invalid value: "${value}": ${problem}`;
  }
  return undefined;
}

function isMet({ key, values, isNegated }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  return (value !== undefined && (values?.has(value) ?? true)) !== isNegated;
}
