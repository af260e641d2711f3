/**
 * Label selectors: does a set of labels match (spec 2.2, 2.4)?
 *
 * A selector is compiled once per run. An invalid one matches nothing and says why, so that a
 * malformed DaemonSet can be refused instead of releasing all of its pods. An exactly empty selector
 * would match everything and is told apart by `isEmptySelector` (spec 2.3 step 4).
 */
import type { LabelSelector } from './objects.ts';

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** A compiled selector. */
export interface CompiledSelector {
  readonly matches: (labels: Labels) => boolean;
  /** What is wrong with the selector; `matches` is always false then. */
  readonly invalid?: string;
}

/** True for a selector without any requirement, or none at all: it would select every pod. */
export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return true;
  const labelCount = Object.keys(selector.matchLabels ?? {}).length;
  return labelCount === 0 && (selector.matchExpressions ?? []).length === 0;
}

/** Compiles a selector: all labels and all expressions must hold. */
export function compileSelector(selector: LabelSelector | undefined): CompiledSelector {
  if (isEmptySelector(selector)) return { matches: () => false, invalid: 'the selector is empty' };
  const requirements: ((labels: Labels) => boolean)[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    requirements.push((labels) => labelOf(labels, key) === value);
  }
  for (const expression of selector?.matchExpressions ?? []) {
    const requirement = compileExpression(expression);
    if (typeof requirement === 'string') return { matches: () => false, invalid: requirement };
    requirements.push(requirement);
  }
  return { matches: (labels) => requirements.every((requirement) => requirement(labels)) };
}

/** A label's value; inherited members of the record are not labels. */
export function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** One requirement of a selector, in the operators that pods' and nodes' selectors share. */
export interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A requirement as a predicate, or a text that says what is wrong with it. */
export function compileExpression(
  expression: LabelExpression,
): ((labels: Labels) => boolean) | string {
  const { key, operator, values = [] } = expression;
  const accepted = new Set(values);
  switch (operator) {
    case 'In':
      if (values.length === 0) return `operator In of ${key} needs values`;
      return (labels) => {
        const value = labelOf(labels, key);
        return value !== undefined && accepted.has(value);
      };
    case 'NotIn':
      if (values.length === 0) return `operator NotIn of ${key} needs values`;
      return (labels) => {
        const value = labelOf(labels, key);
        return value === undefined || !accepted.has(value);
      };
    case 'Exists':
      if (values.length > 0) return `operator Exists of ${key} takes no values`;
      return (labels) => labelOf(labels, key) !== undefined;
    case 'DoesNotExist':
      if (values.length > 0) return `operator DoesNotExist of ${key} takes no values`;
      return (labels) => labelOf(labels, key) === undefined;
    default:
      return `operator ${operator} of ${key} is not known`;
  }
}
