/**
 * Paths of fields as people write them: `canary.nodes`, `window[0].days[1]`, `matchLabels["example.com/pool"]`.
 *
 * Keys come from a user's text: one that is long, or could steer a terminal or a log, is not repeated.
 */

const PLAIN = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const QUOTED = /^[A-Za-z0-9._/<-]{1,100}$/;

/** The path of a member. */
export function atKey(field: string, key: string): string {
  if (PLAIN.test(key)) return field === '' ? key : `${field}.${key}`;
  return `${field}[${QUOTED.test(key) ? JSON.stringify(key) : '"…"'}]`;
}

/** The path of an element. */
export function atIndex(field: string, index: number): string {
  return `${field}[${String(index)}]`;
}
