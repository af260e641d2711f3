/**
 * Taints and tolerations (spec 2.5): which taint, if any, does a list of tolerations not tolerate?
 *
 * Operators Exists and Equal (the default), and the numeric Gt and Lt, which Kubernetes has behind
 * the gate TaintTolerationComparisonOperators: API servers without it refuse such tolerations, so
 * reading them is harmless there. PreferNoSchedule never decides.
 */
import type { Taint, TaintEffect, Toleration } from './objects.ts';
import { parseCanonicalInteger } from './integer.ts';

/** True when one toleration tolerates one taint (spec 2.5). */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { key, effect } = toleration;
  // An empty key or effect means any.
  if (isGiven(effect) && effect !== taint.effect) return false;
  if (isGiven(key) && key !== taint.key) return false;
  return toleratesValue(toleration, taint.value ?? '');
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}

function toleratesValue(toleration: Toleration, actual: string): boolean {
  const { operator = '', value = '' } = toleration;
  switch (operator) {
    case '':
    case 'Equal':
      return value === actual;
    case 'Exists':
      return true;
    case 'Gt':
    case 'Lt':
      return comparesNumerically({ operator, bound: value, actual });
    default:
      return false;
  }
}

/** The first taint of this effect that no toleration tolerates; undefined when there is none. */
export function findUntoleratedTaint(input: {
  readonly taints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
  readonly effect: TaintEffect;
}): Taint | undefined {
  return input.taints.find(
    (taint) =>
      taint.effect === input.effect &&
      !input.tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  );
}

/** A taint as kubectl prints it: `key=value:Effect`, or `key:Effect` without a value. */
export function formatTaint(taint: Taint): string {
  const value = taint.value ?? '';
  return `${taint.key}${value === '' ? '' : `=${value}`}:${taint.effect}`;
}

/** Gt: the taint's value is greater than the toleration's. Anything not an integer: no. */
function comparesNumerically(input: {
  readonly operator: 'Gt' | 'Lt';
  readonly bound: string;
  readonly actual: string;
}): boolean {
  const bound = parseCanonicalInteger(input.bound);
  const actual = parseCanonicalInteger(input.actual);
  if (bound === undefined || actual === undefined) return false;
  return input.operator === 'Gt' ? actual > bound : actual < bound;
}
