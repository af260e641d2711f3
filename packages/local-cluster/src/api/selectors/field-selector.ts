/**
 * Field selectors: `a=b`, `a==b`, `a!=b`, joined by commas, with `\,` `\=` `\\` in values.
 *
 * metadata.name and metadata.namespace are known for every resource; the rest is the resource's own list. An unknown
 * field or a malformed text is a 400 of the caller's.
 */

/** One term. */
export interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** The terms, or why the text is no selector. */
export type FieldSelectorOutcome =
  | { readonly kind: 'terms'; readonly terms: readonly FieldTerm[] }
  | { readonly kind: 'malformed'; readonly message: string };

/** Parses a field selector; the empty text has no terms. */
export function parseFieldSelector(text: string): FieldSelectorOutcome {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text)) {
    if (part === '') continue;
    const term = termOf(part);
    if (term === undefined) {
      return {
        kind: 'malformed',
        message: `invalid selector: '${text}'; can't understand '${part}'`,
      };
    }
    terms.push(term);
  }
  return { kind: 'terms', terms };
}

function splitTerms(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') index += 1;
    else if (character === ',') {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The first operator splits; a bare `=` or `!` in the value must be escaped. */
function termOf(part: string): FieldTerm | undefined {
  for (let index = 0; index < part.length; index += 1) {
    for (const operator of ['!=', '==', '=']) {
      if (!part.startsWith(operator, index)) continue;
      const value = unescaped(part.slice(index + operator.length));
      if (value === undefined) return undefined;
      return { field: part.slice(0, index), isEqual: operator !== '!=', value };
    }
  }
  return undefined;
}

function unescaped(text: string): string | undefined {
  let plain = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') {
      index += 1;
      const next = text.charAt(index);
      if (next !== '\\' && next !== ',' && next !== '=') return undefined;
      plain += next;
    } else if (character === ',' || character === '=') return undefined;
    else plain += character;
  }
  return plain;
}
