/**
 * Condition expressions as the stores write them: comparisons with a value, whether an attribute exists, AND, OR, brackets.
 *
 * Anything else throws: a condition that is not understood must not hold by accident. An attribute that is missing is
 * neither equal to nor less than anything. Pure.
 */
import type { Attributes } from './item-size.ts';

/** An expression with what its placeholders stand for. */
export interface ConditionInput {
  readonly expression: string;
  readonly names?: Readonly<Record<string, string>> | undefined;
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

const TOKENS = /\s*(\(|\)|<=|>=|<>|=|<|>|[#:]?[\w.#]+)/gy;
const FUNCTIONS = new Set(['attribute_exists', 'attribute_not_exists']);

/** Whether it holds for an item; a missing item has no attributes. */
export function holds(condition: ConditionInput, item: Attributes | undefined): boolean {
  const tokens = [...condition.expression.matchAll(TOKENS)].map(([, token = '']) => token);
  const isWhole = tokens.join('') === condition.expression.replaceAll(/\s/g, '');
  const parser = new Parser(tokens, condition, item ?? {});
  const result = parser.either();
  parser.end(isWhole);
  return result;
}

class Parser {
  readonly #tokens: readonly string[];
  readonly #condition: ConditionInput;
  readonly #item: Attributes;
  #next = 0;

  constructor(tokens: readonly string[], condition: ConditionInput, item: Attributes) {
    this.#tokens = tokens;
    this.#condition = condition;
    this.#item = item;
  }

  either(): boolean {
    let result = this.#both();
    while (this.#take('OR')) result = this.#both() || result;
    return result;
  }

  end(isWhole: boolean): void {
    if (!isWhole || this.#next < this.#tokens.length) this.#fail();
  }

  #both(): boolean {
    let result = this.#term();
    while (this.#take('AND')) result = this.#term() && result;
    return result;
  }

  #term(): boolean {
    if (this.#take('(')) {
      const result = this.either();
      this.#expect(')');
      return result;
    }
    const word = this.#word();
    if (FUNCTIONS.has(word)) {
      this.#expect('(');
      const isThere = this.#attribute(this.#word()) !== undefined;
      this.#expect(')');
      return isThere === (word === 'attribute_exists');
    }
    const stored = this.#attribute(word);
    const operator = this.#word();
    const wanted = this.#condition.values?.[this.#word()];
    if (operator === '=') return stored !== undefined && stored === wanted;
    // As DynamoDB has it: an attribute that is not there differs from every value.
    if (operator === '<>') return stored !== wanted;
    if (operator !== '<') return this.#fail();
    return isLess(stored, wanted);
  }

  #attribute(path: string): unknown {
    const names = this.#condition.names ?? {};
    return path
      .split('.')
      .reduce<unknown>(
        (value, part) => (value as Attributes | undefined)?.[names[part] ?? part],
        this.#item,
      );
  }

  #word(): string {
    const token = this.#tokens[this.#next] ?? this.#fail();
    this.#next += 1;
    return token;
  }

  #take(token: string): boolean {
    const isNext = this.#tokens[this.#next] === token;
    if (isNext) this.#next += 1;
    return isNext;
  }

  #expect(token: string): void {
    if (!this.#take(token)) this.#fail();
  }

  #fail(): never {
    throw new Error(`a condition that this table does not know: ${this.#condition.expression}`);
  }
}

function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left < right;
  return typeof left === 'number' && typeof right === 'number' && left < right;
}
