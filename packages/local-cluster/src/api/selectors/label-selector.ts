/**
 * Label selectors in the full syntax: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`.
 *
 * A selector is parsed once per request into a predicate. As in Kubernetes, `!=` and `notin` also select what lacks the
 * label. Keys and values are checked as the real server checks them; the message of a refusal is ours.
 */
import { checkLabelValue, checkQualifiedName } from '../../resources/shared/names.ts';

/** The labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** A predicate, or why the text is no selector. */
export type LabelSelectorOutcome =
  | { readonly kind: 'selector'; readonly matches: (labels: Labels) => boolean }
  | { readonly kind: 'malformed'; readonly message: string };

type Requirement = (labels: Labels) => boolean;

class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

/** Parses a label selector; the empty text selects everything. */
export function parseLabelSelector(text: string): LabelSelectorOutcome {
  try {
    const requirements = new Reader(tokensOf(text)).requirements();
    return {
      kind: 'selector',
      matches: (labels) => requirements.every((isMet) => isMet(labels)),
    };
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return { kind: 'malformed', message: `unable to parse requirement: ${error.message}` };
  }
}

const SYMBOLS = /[(),]|[=!<>]+|[^\s(),=!<>]+/gy;
const OPERATORS = new Set(['=', '==', '!=', '>', '<', 'in', 'notin']);

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  let position = 0;
  while (position < text.length) {
    if (/\s/.test(text.charAt(position))) {
      position += 1;
      continue;
    }
    SYMBOLS.lastIndex = position;
    const token = SYMBOLS.exec(text)?.[0];
    if (token === undefined) throw new SelectorError(`found '${text.slice(position)}'`);
    tokens.push(token);
    position += token.length;
  }
  return tokens;
}

function isWord(token: string): boolean {
  return token !== '' && !/^[(),=!<>]/.test(token);
}

class Reader {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly Requirement[] {
    const found: Requirement[] = [];
    while (this.#peek() !== undefined) {
      found.push(this.#requirement());
      const next = this.#take();
      if (next === undefined) return found;
      if (next !== ',')
        throw new SelectorError(`found '${next}', expected: ',' or 'end of string'`);
      if (this.#peek() === undefined) {
        throw new SelectorError(`found '', expected: identifier after ','`);
      }
    }
    return found;
  }

  #requirement(): Requirement {
    const isNegated = this.#peek() === '!';
    if (isNegated) this.#position += 1;
    const key = this.#key();
    const operator = this.#peek();
    if (isNegated) {
      if (operator !== undefined && operator !== ',') {
        throw new SelectorError(`found '${operator}', expected: ',' or 'end of string'`);
      }
      return (labels) => labels[key] === undefined;
    }
    if (operator === undefined || operator === ',') return (labels) => labels[key] !== undefined;
    if (!OPERATORS.has(operator)) {
      throw new SelectorError(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    this.#position += 1;
    return this.#comparison(key, operator);
  }

  #comparison(key: string, operator: string): Requirement {
    if (operator === 'in' || operator === 'notin') {
      const values = this.#valueSet();
      return operator === 'in'
        ? (labels) => {
            const value = labels[key];
            return value !== undefined && values.has(value);
          }
        : (labels) => {
            const value = labels[key];
            return value === undefined || !values.has(value);
          };
    }
    const value = this.#value();
    if (operator === '!=') return (labels) => labels[key] !== value;
    if (operator === '=' || operator === '==') return (labels) => labels[key] === value;
    return numericComparison(key, operator, value);
  }

  #valueSet(): ReadonlySet<string> {
    const open = this.#take();
    if (open !== '(') throw new SelectorError(`found '${open ?? ''}', expected: '('`);
    const values = new Set<string>();
    for (;;) {
      values.add(this.#value());
      const next = this.#take();
      if (next === ')') return values;
      if (next !== ',') throw new SelectorError(`found '${next ?? ''}', expected: ',' or ')'`);
    }
  }

  /** A value may be empty: `a=`, `a in (,b)`. */
  #value(): string {
    const token = this.#peek();
    if (token === undefined || token === ',' || token === ')') return '';
    if (!isWord(token)) throw new SelectorError(`found '${token}', expected: identifier`);
    this.#position += 1;
    refuseProblems('values', token, checkLabelValue(token));
    return token;
  }

  #key(): string {
    const token = this.#take() ?? '';
    if (!isWord(token)) {
      throw new SelectorError(`found '${token}', expected: !, identifier, or 'end of string'`);
    }
    refuseProblems('key', token, checkQualifiedName(token));
    return token;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#position];
  }

  #take(): string | undefined {
    const token = this.#tokens[this.#position];
    this.#position += 1;
    return token;
  }
}

function refuseProblems(part: 'key' | 'values', text: string, problems: readonly string[]): void {
  const [problem] = problems;
  if (problem !== undefined)
    throw new SelectorError(`${part}: Invalid value: "${text}": ${problem}`);
}

const INTEGER = /^[+-]?\d+$/;

function numericComparison(key: string, operator: string, bound: string): Requirement {
  if (!INTEGER.test(bound)) {
    throw new SelectorError(`values[0]: Invalid value: "${bound}": for 'Gt', 'Lt' operators`);
  }
  const limit = BigInt(bound);
  return (labels) => {
    const value = labels[key];
    if (value === undefined || !INTEGER.test(value)) return false;
    return operator === '>' ? BigInt(value) > limit : BigInt(value) < limit;
  };
}
