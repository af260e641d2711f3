/**
 * The grammar in which a pod asks its simulation to misbehave: `pull=3s, exit=1@5s, ignore-sigterm`.
 *
 * A list of requests, separated by commas; each is a name, a name with a value (`=`), or a name with a moment (`@`).
 * An image name has no room for these signs: there requests are joined by `_` and everything else by `-`
 * (`pull-3s_exit-1-5s`). A list is taken whole or not at all. Pure; what the names mean is in simulation-request.ts.
 */

/** One request of a list. */
export interface RequestItem {
  readonly name: string;
  /** What follows the `=` or the `@`. */
  readonly value?: string;
}

/** A value of a request, or why it is none. */
export type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'malformed'; readonly because: string };

const ITEM = /^([a-z][a-z-]*)(?:[=@](.*))?$/;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const COUNT = /^\d{1,6}$/;
const EXIT_CODE_MAX = 255;
const KERNEL = /^\d+(?:\.\d+){0,2}$/;

/** Splits an annotation's value. */
export function parseList(text: string): Parsed<readonly RequestItem[]> {
  const items: RequestItem[] = [];
  for (const part of text.split(',')) {
    const trimmed = part.trim();
    if (trimmed === '') continue;
    const match = ITEM.exec(trimmed);
    if (match === null) return { kind: 'malformed', because: `cannot read "${trimmed}"` };
    const [, name = '', value] = match;
    items.push(value === undefined ? { name } : { name, value });
  }
  return { kind: 'ok', value: items };
}

/** Splits what follows `simulate-` in an image name: `exit-1-5s_pull-3s` asks `exit=1@5s, pull=3s`. */
export function parseDashedList(
  text: string,
  names: ReadonlySet<string>,
): Parsed<readonly RequestItem[]> {
  const items: RequestItem[] = [];
  for (const part of text.split('_')) {
    const words = part.split('-');
    const length = longestName(words, names);
    if (length === 0) return { kind: 'malformed', because: `cannot read "${part}"` };
    const name = words.slice(0, length).join('-');
    const value = words.slice(length).join('@');
    items.push(value === '' ? { name } : { name, value });
  }
  return { kind: 'ok', value: items };
}

function longestName(words: readonly string[], names: ReadonlySet<string>): number {
  for (let length = words.length; length > 0; length -= 1) {
    if (names.has(words.slice(0, length).join('-'))) return length;
  }
  return 0;
}

/** `500ms`, `3s`, `1.5m`, `1h` in milliseconds. */
export function parseDuration(text: string | undefined): Parsed<number> {
  const match = DURATION.exec(text ?? '');
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  if (match === null || unitMs === undefined) {
    return { kind: 'malformed', because: `"${text ?? ''}" is no duration such as 500ms or 3s` };
  }
  return { kind: 'ok', value: Math.round(Number(match[1]) * unitMs) };
}

/** How often: a number, or always when nothing is said. */
export function parseCount(text: string | undefined): Parsed<number> {
  if (text === undefined) return { kind: 'ok', value: Number.POSITIVE_INFINITY };
  if (!COUNT.test(text)) return { kind: 'malformed', because: `"${text}" is no number of times` };
  return { kind: 'ok', value: Number(text) };
}

/** `5.10@10s`: on machines whose kernel begins so, after ten seconds; without a moment at once. */
export function parsePanic(
  text: string | undefined,
): Parsed<{ readonly kernel: string; readonly afterMs: number }> {
  const [kernel = '', moment] = (text ?? '').split('@');
  if (!KERNEL.test(kernel)) {
    return { kind: 'malformed', because: `"${kernel}" begins no kernel version such as 5.10` };
  }
  if (moment === undefined) return { kind: 'ok', value: { kernel, afterMs: 0 } };
  const after = parseDuration(moment);
  return after.kind === 'ok' ? { kind: 'ok', value: { kernel, afterMs: after.value } } : after;
}

/** `1@5s`: exits with code 1 after five seconds; without a moment at once; `never`: not by itself. */
export function parseExit(
  text: string | undefined,
): Parsed<{ readonly code: number; readonly afterMs: number }> {
  if (text === 'never') {
    return { kind: 'ok', value: { code: 0, afterMs: Number.POSITIVE_INFINITY } };
  }
  const [codeText = '', moment] = (text ?? '').split('@');
  if (!/^\d{1,3}$/.test(codeText) || Number(codeText) > EXIT_CODE_MAX) {
    return { kind: 'malformed', because: `"${codeText}" is no exit code from 0 to 255` };
  }
  const code = Number(codeText);
  if (moment === undefined) return { kind: 'ok', value: { code, afterMs: 0 } };
  const after = parseDuration(moment);
  return after.kind === 'ok' ? { kind: 'ok', value: { code, afterMs: after.value } } : after;
}
