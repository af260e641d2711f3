/**
 * Problems of a text, each with the path of its field, as `canary.nodes` or `window[0].days[1]`.
 * Messages are the schema's own, which quote nothing. Keys come from a user's text: one that is
 * long, or could steer a terminal or a log, is not repeated.
 */
import { counted } from '@rollcall/base/counted.ts';
import * as v from 'valibot';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { nearestField } from './nearest-field.ts';
import { isFields } from './written-values.ts';

const PLAIN = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const QUOTED = /^[A-Za-z0-9._/<-]{1,100}$/;
/** An event holds 1,024 characters, for all problems. */
const NAMED_MAX = 5;

/** The path of a member, or of an element. */
export function within(field: string, key: string | number): string {
  if (typeof key === 'number') return `${field}[${String(key)}]`;
  if (PLAIN.test(key)) return field === '' ? key : `${field}.${key}`;
  return `${field}[${QUOTED.test(key) ? JSON.stringify(key) : '"…"'}]`;
}

export interface Described {
  /** For messages: `a policy`. */
  readonly what: string;
  /** More than a person repairs at once. */
  readonly problemsMax: number;
  /** `window` was written without a list. */
  readonly isOneWindow?: boolean;
}

interface Refused {
  readonly kind: 'invalid';
  readonly problems: readonly [PolicyProblem, ...PolicyProblem[]];
}

/** A reading that was refused: at least one problem, the first of each field. */
export function refuse(
  problems: readonly PolicyProblem[],
  { problemsMax, what }: Described,
): Refused {
  // A text that is no number is out of bounds as well.
  const byField = Map.groupBy(problems, ({ field }) => field).values();
  const distinct = [...byField].flatMap(([first]) => first ?? []);
  const told = distinct.slice(0, problemsMax);
  const more = distinct.length - told.length;
  if (more > 0) told.push({ field: '', message: `has ${counted(more, 'more problem')}` });
  const [first = { field: '', message: `is not ${what}` }, ...others] = told;
  return { kind: 'invalid', problems: [first, ...others] };
}

/** The result of a schema on plain values. */
export function readBy<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  described: Described,
): Refused | { readonly kind: 'read'; readonly output: T } {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { kind: 'read', output: parsed.output };
  return refuse(
    parsed.issues.flatMap((issue) => toProblems(issue, described)),
    described,
  );
}

function toProblems(
  issue: v.BaseIssue<unknown>,
  { isOneWindow = false, what }: Described,
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
    .map((key) => ({ field: within(around, key), message: unknownField(key, known, what) }));
}

function pathOf(keys: readonly unknown[]): string {
  return keys.reduce<string>(
    (field, key) => within(field, typeof key === 'number' ? key : String(key)),
    '',
  );
}

function unknownField(key: string, known: readonly string[], what: string): string {
  const nearest = nearestField(key, known);
  if (nearest !== undefined) return `is not known here: did you mean ${nearest}?`;
  if (known.length > NAMED_MAX) return `is no field of ${what}`;
  return `is not known here; known are ${known.join(', ')}`;
}
