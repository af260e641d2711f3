// Updates that assign values to attributes, read once and kept by their text: `SET #a = :a, b = :b`.
//
// REMOVE, arithmetic, functions and paths are not known here: `parseUpdate` says undefined, and dynalite does it.
import type { WireItem } from './store.ts';
import type { FormFields } from './known-forms.ts';

/** Each assignment: the attribute or its placeholder, and the placeholder of its value. */
export type Update = readonly (readonly [string, string])[];

const WHOLE = /^SET [#\w]+ = :\w+(?:, [#\w]+ = :\w+)*$/;
const ASSIGNMENT = /([#\w]+) = (:\w+)/g;
const KEPT_MAX = 500;
const kept = new Map<string, Update | undefined>();

/** The assignments of an expression; undefined: another form. */
export function parseUpdate(text: string): Update | undefined {
  if (!kept.has(text)) {
    if (kept.size >= KEPT_MAX) kept.clear();
    const found = [...text.matchAll(ASSIGNMENT)];
    const pairs = found.map(([, name = '', value = '']) => [name, value] as const);
    kept.set(text, WHOLE.test(text) ? pairs : undefined);
  }
  return kept.get(text);
}

/** What is assigned; undefined: with a placeholder that is not there. */
export function assignmentsOf(update: Update, fields: FormFields): WireItem | undefined {
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = fields;
  const assigned: Record<string, WireItem[string]> = {};
  for (const [name, placeholder] of update) {
    const attribute = name.startsWith('#') ? names[name] : name;
    const value = values[placeholder];
    if (attribute === undefined || value === undefined) return undefined;
    assigned[attribute] = value;
  }
  return assigned;
}
