/**
 * Where something with labels stands in an order of rules: nodes of a rollout, and clusters of a fleet. Pure.
 *
 * Values that a rule lists go first, the others by name, what lacks the label after them; what `isLast` names goes after
 * everything.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { labelOf, type Labels } from '@rollcall/base/label-selector.ts';
import type { OrderRule } from './rollout-policy.ts';

/** Where something stands by one rule. */
export interface Level {
  /** Compared first. */
  readonly rank: number;
  /** Compared among equals; a part of the name of a group. */
  readonly word: string;
}

/** The word of what does not have the label. */
const NO_LABEL = '-';

/** Places by an order; what goes after everything is compared before everything. */
export function placesBy(order: readonly OrderRule[]): (labels: Labels) => readonly Level[] {
  const rules = [...order.filter(({ isLast }) => isLast), ...order.filter(({ isLast }) => !isLast)];
  return (labels) => rules.map((rule) => levelOf(labels, rule));
}

function levelOf(labels: Labels, { label, values, isLast }: OrderRule): Level {
  const value = labelOf(labels, label);
  if (isLast) {
    const isNamed = value !== undefined && (values.length === 0 || values.includes(value));
    if (!isNamed) return { rank: 0, word: '' };
    return { rank: 1, word: value === '' ? label : `${label}=${value}` };
  }
  if (value === undefined) return { rank: values.length + 1, word: NO_LABEL };
  const index = values.indexOf(value);
  return { rank: index === -1 ? values.length : index, word: value === '' ? label : value };
}

/** Negative, zero or positive as `left` stands before, with or after `right`; both by the same order. */
export function comparePlaces(left: readonly Level[], right: readonly Level[]): number {
  for (const [index, level] of left.entries()) {
    const other = right[index] ?? level;
    const compared = level.rank - other.rank || compareText(level.word, other.word);
    if (compared !== 0) return compared;
  }
  return 0;
}
