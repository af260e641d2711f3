/**
 * DaemonSets that are left alone, and why (spec 2.3 step 4, 5).
 *
 * In upstream's order: a selector that would select every pod, then a deletion, then a selector that selects nothing
 * because it cannot be used. An API server accepts neither selector; this is a last defence.
 */
import { compileSelector, isEmptySelector } from '@rollcall/base/label-selector.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';

/** Why a DaemonSet is left alone. */
export type LeftAlone =
  | { readonly kind: 'selecting-all' }
  /** Its children are the garbage collector's business. */
  | { readonly kind: 'terminating' }
  | { readonly kind: 'malformed'; readonly problem: string };

/** Why this one is left alone; undefined: it is not. */
export function whyLeftAlone({ metadata, spec }: DaemonSetObject): LeftAlone | undefined {
  if (isEmptySelector(spec.selector)) return { kind: 'selecting-all' };
  if (metadata.deletionTimestamp !== undefined) return { kind: 'terminating' };
  const { invalid } = compileSelector(spec.selector);
  return invalid === undefined ? undefined : { kind: 'malformed', problem: invalid };
}
