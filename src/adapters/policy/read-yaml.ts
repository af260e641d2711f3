/**
 * From the text of a policy to plain values: maps, lists, texts, numbers, booleans, null.
 *
 * YAML 1.2, in which `on` and `22:00` are texts; JSON is YAML. What can make a small text large, or mean something else
 * than it says, is refused: anchors, aliases, tags, directives, several documents, keys given twice or that are no
 * text, depth. Assumes a text of bounded length. Problems name fields and lines, and never quote a value.
 */
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, ParsedNode } from 'yaml';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { atIndex, atKey } from './field-path.ts';

/** Deeper than any policy needs: window[0].days[0] and canary.selector.matchExpressions[0].values[0] are 3 and 6. */
const DEPTH_MAX = 8;

/** A text as plain values, or what is wrong with it. */
export type PlainYaml =
  | { readonly kind: 'values'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] };

/** Reads one document. Never throws. */
export function readYaml(text: string): PlainYaml {
  // Before it is parsed: functions have the parser's schema of YAML 1.2 alone.
  if (/^%/m.test(text)) {
    return invalid([{ field: '', message: 'has a YAML directive, a line that begins with %' }]);
  }
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      version: '1.2',
      // Found below, where the field is known.
      uniqueKeys: false,
      // Its messages quote the text.
      prettyErrors: false,
      // Silent, it would pass over a second document.
      logLevel: 'error',
    });
  } catch {
    // The parser recurses: only a text of thousands of brackets ends its stack.
    return invalid([{ field: '', message: 'cannot be read as YAML: nested too deeply' }]);
  }
  const [error] = document.errors;
  if (error !== undefined) {
    if (error.code === 'MULTIPLE_DOCS') {
      return invalid([{ field: '', message: 'holds more than one YAML document' }]);
    }
    const line = text.slice(0, error.pos[0]).split('\n').length;
    return invalid([
      { field: '', message: `is not YAML: see line ${String(line)} (${error.code})` },
    ]);
  }
  const problems: PolicyProblem[] = [];
  const value = plain(document.contents, { field: '', depth: 0 }, problems);
  return problems.length > 0 ? invalid(problems) : { kind: 'values', value };
}

function invalid(problems: readonly PolicyProblem[]): PlainYaml {
  return { kind: 'invalid', problems };
}

interface Place {
  readonly field: string;
  readonly depth: number;
}

function plain(node: ParsedNode | null, place: Place, problems: PolicyProblem[]): unknown {
  const { field, depth } = place;
  const refuse = (message: string): undefined => {
    problems.push({ field, message });
    return undefined;
  };
  if (node === null) return null;
  if (isAlias(node)) return refuse('is a YAML alias (*): write the value itself');
  if (node.anchor !== undefined) return refuse('has a YAML anchor (&): write each value itself');
  if (node.tag !== undefined) return refuse('has a YAML tag (!): write the value without it');
  if (isScalar(node)) return node.value;
  if (depth >= DEPTH_MAX) return refuse('is nested deeper than any policy');
  if (isSeq(node)) {
    return node.items.map((item, index) =>
      plain(item, { field: atIndex(field, index), depth: depth + 1 }, problems),
    );
  }
  if (!isMap(node)) return refuse('is neither map, list nor value');
  const entries = new Map<string, unknown>();
  for (const { key, value } of node.items) {
    const name = keyOf(key);
    if (name === undefined) {
      refuse('has a key that is no plain text');
      continue;
    }
    const inner = atKey(field, name);
    if (entries.has(name)) problems.push({ field: inner, message: 'is given twice' });
    entries.set(name, plain(value, { field: inner, depth: depth + 1 }, problems));
  }
  // Own members whatever their names are: `__proto__` is an unknown field like any other.
  return Object.fromEntries(entries);
}

function keyOf(key: unknown): string | undefined {
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined) return undefined;
  return typeof key.value === 'string' ? key.value : undefined;
}
