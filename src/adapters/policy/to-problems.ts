/**
 * From an issue of the schema to problems that name their fields.
 *
 * Messages are the schema's own, which quote nothing. Assumes what `closed` of schema-parts.ts says of unknown fields.
 * It judges nothing.
 */
import { counted } from '@rollcall/base/counted.ts';
import type * as v from 'valibot';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { atIndex, atKey } from './field-path.ts';
import { nearestField } from './nearest-field.ts';
import { isFields } from './written-values.ts';

/** An event holds 1,024 characters, for all problems. */
const NAMED_MAX = 5;

/** The problems that are told of a text: at least one, the first of each field, so many at most. */
export function toldProblems(
  problems: readonly PolicyProblem[],
  { problemsMax, what }: { readonly problemsMax: number; readonly what: string },
): readonly [PolicyProblem, ...PolicyProblem[]] {
  // What is no number is out of bounds as well.
  const byField = Map.groupBy(problems, ({ field }) => field).values();
  const distinct = [...byField].flatMap(([first]) => first ?? []);
  const told = distinct.slice(0, problemsMax);
  const more = distinct.length - told.length;
  if (more > 0) told.push({ field: '', message: `has ${counted(more, 'more problem')}` });
  const [first = { field: '', message: `is no ${what}` }, ...others] = told;
  return [first, ...others];
}

/** How the text was written, and what it is. */
export interface WrittenAs {
  /** `window` was written without a list. */
  readonly isOneWindow: boolean;
  /** For messages: `a policy`. */
  readonly what: string;
}

/** One problem, or one for each unknown field of an object. */
export function toProblems(
  issue: v.BaseIssue<unknown>,
  { isOneWindow, what }: WrittenAs,
): readonly PolicyProblem[] {
  const keys = (issue.path ?? []).map(({ key }) => key);
  if (isOneWindow && keys[0] === 'window') keys.splice(1, 1);
  const last = issue.path?.at(-1);
  // A key that an object lacks, or does not know, is the only thing that a path ends with by itself.
  if (last?.origin !== 'key') return [{ field: pathOf(keys), message: issue.message }];
  if (issue.expected !== 'never') return [{ field: pathOf(keys), message: 'is needed' }];
  const known = issue.message.split(',');
  const written = isFields(last.input) ? Object.keys(last.input) : [];
  const around = pathOf(keys.slice(0, -1));
  return written
    .filter((key) => !known.includes(key))
    .map((key) => ({ field: atKey(around, key), message: unknownField(key, known, what) }));
}

function pathOf(keys: readonly unknown[]): string {
  return keys.reduce<string>(
    (field, key) => (typeof key === 'number' ? atIndex(field, key) : atKey(field, String(key))),
    '',
  );
}

function unknownField(key: string, known: readonly string[], what: string): string {
  const nearest = nearestField(key, known);
  if (nearest !== undefined) return `is not known here: did you mean ${nearest}?`;
  if (known.length > NAMED_MAX) return `is no field of ${what}`;
  return `is not known here; known are ${known.join(', ')}`;
}
