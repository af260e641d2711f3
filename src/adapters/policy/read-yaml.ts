/**
 * From the text of a policy to plain values, by YAML 1.2; JSON is YAML. What can make a small text
 * large, or mean something else than it says, is refused: anchors, aliases, tags, directives,
 * several documents, keys given twice, depth. Assumes a bounded text. Problems name fields and
 * lines alone.
 */
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, parseDocument } from 'yaml';
import type { Document, ParsedNode, YAMLMap } from 'yaml';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { within } from './problems.ts';

export type PlainYaml =
  | { readonly kind: 'values'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] };

type Invalid = Extract<PlainYaml, { readonly kind: 'invalid' }>;

/** The limits: how deep it may be nested, and whether a number may begin with 0, which kubectl reads as octal. */
export interface YamlRules {
  readonly depthMax: number;
  readonly leadingZeros: 'taken' | 'refused';
}

/** Deeper than any policy needs: canary.selector.matchExpressions[0].values[0] is 6. */
const POLICY_RULES: YamlRules = { depthMax: 8, leadingZeros: 'taken' };

const OPTIONS = {
  version: '1.2',
  // Found below, where the field is known.
  uniqueKeys: false,
  // Its messages quote the text.
  prettyErrors: false,
  // Silent, it would pass over a second document.
  logLevel: 'error',
} as const;

/** Reads one document. Never throws. */
export function readYaml(text: string, rules = POLICY_RULES): PlainYaml {
  const parsed = guarded(text, () => parseDocument(text, OPTIONS));
  return 'problems' in parsed ? parsed : valueOf(parsed, text, rules);
}

/** Reads every document of a text, as Helm and Kustomize write them. Empty ones are left out. Never throws. */
export function readYamlStream(
  text: string,
  rules: YamlRules,
): Invalid | { readonly kind: 'values'; readonly values: readonly unknown[] } {
  const parsed = guarded(text, () => parseAllDocuments(text, OPTIONS));
  if ('problems' in parsed) return parsed;
  const values: unknown[] = [];
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const read = valueOf(document, text, rules);
    if (read.kind === 'invalid') return read;
    if (read.value !== null) values.push(read.value);
  }
  return { kind: 'values', values };
}

function guarded<T>(text: string, parse: () => T): T | Invalid {
  // Before it is parsed: functions have the parser's schema of YAML 1.2 alone.
  if (/^%/m.test(text)) {
    return invalid('has a YAML directive, a line that begins with %');
  }
  try {
    return parse();
  } catch {
    // The parser recurses: only a text of thousands of brackets ends its stack.
    return invalid('cannot be read as YAML: nested too deeply');
  }
}

function valueOf(document: Document.Parsed, text: string, rules: YamlRules): PlainYaml {
  const [error] = document.errors;
  if (error !== undefined) {
    if (error.code === 'MULTIPLE_DOCS') return invalid('holds more than one YAML document');
    const line = text.slice(0, error.pos[0]).split('\n').length;
    return invalid(`is not YAML: see line ${String(line)} (${error.code})`);
  }
  const problems: PolicyProblem[] = [];
  const value = plain(document.contents, { field: '', depth: 0, rules }, problems);
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'values', value };
}

function invalid(message: string): Invalid {
  return { kind: 'invalid', problems: [{ field: '', message }] };
}

interface Place {
  readonly field: string;
  readonly depth: number;
  readonly rules: YamlRules;
}

const LEADING_ZERO = /^[-+]?0[0-9_]/;

function plain(node: ParsedNode | null, place: Place, problems: PolicyProblem[]): unknown {
  const { field, depth, rules } = place;
  if (node === null) return null;
  const message = whyRefused(node, place);
  if (message !== undefined) {
    problems.push({ field, message });
    return undefined;
  }
  if (isScalar(node)) return node.value;
  if (isSeq(node)) {
    return node.items.map((item, index) =>
      plain(item, { field: within(field, index), depth: depth + 1, rules }, problems),
    );
  }
  return isMap(node) ? plainMap(node, place, problems) : undefined;
}

/** Features by which a node means something else than it says. */
function whyRefused(node: ParsedNode, { depth, rules }: Place): string | undefined {
  if (isAlias(node)) return 'is a YAML alias (*): write the value itself';
  if (node.anchor !== undefined) return 'has a YAML anchor (&): write each value itself';
  if (node.tag !== undefined) return 'has a YAML tag (!): write the value without it';
  if (isScalar(node)) {
    const isOctal = typeof node.value === 'number' && LEADING_ZERO.test(node.source ?? '');
    if (!isOctal || rules.leadingZeros === 'taken') return undefined;
    return 'begins with 0, which kubectl reads as octal: write it in decimal, 0644 as 420';
  }
  if (depth >= rules.depthMax) return `is nested deeper than ${String(rules.depthMax)} levels`;
  return isSeq(node) || isMap(node) ? undefined : 'is neither map, list nor value';
}

function plainMap(node: YAMLMap.Parsed, place: Place, problems: PolicyProblem[]): unknown {
  const { field, depth, rules } = place;
  const entries = new Map<string, unknown>();
  for (const { key, value } of node.items) {
    const name = keyOf(key);
    if (name === undefined) {
      problems.push({ field, message: 'has a key that is no plain text' });
      continue;
    }
    const inner = within(field, name);
    if (entries.has(name)) problems.push({ field: inner, message: 'is given twice' });
    entries.set(name, plain(value, { field: inner, depth: depth + 1, rules }, problems));
  }
  // Own members whatever their names are: `__proto__` is an unknown field like any other.
  return Object.fromEntries(entries);
}

function keyOf(key: unknown): string | undefined {
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined) return undefined;
  return typeof key.value === 'string' ? key.value : undefined;
}
