// Conditions of writes, read once and kept by their text: comparisons, attribute_exists and attribute_not_exists, AND, OR, NOT.
//
// Anything else (functions, paths, BETWEEN, IN) is not known here: `conditionOf` says undefined, and dynalite decides. So it does
// what cannot be compared here for certain. What a condition means is the API reference's: values of two types are
// unequal and in no order, and an attribute that is not there is in no order either.
import type { WireItem } from './store.ts';
import type { WireValue } from './statement.ts';

/** What the placeholders of an expression stand for. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, WireValue>>;
}

/** Whether it holds of an item; throws Undecided. */
export type Condition = (item: WireItem, of: Placeholders) => boolean;

/** Two values whose order is not told here. */
export class Undecided extends Error {
  override readonly name = 'Undecided';
}

type Operand = (item: WireItem, of: Placeholders) => WireValue | undefined;

const TOKEN = /\s*(<>|<=|>=|[=<>(),]|[#:]?[A-Za-z_]\w*)/y;
const KEPT_MAX = 500;
const kept = new Map<string, Condition | undefined>();

/** The condition that a text says; undefined: one that is not known here. */
export function conditionOf(text: string): Condition | undefined {
  if (!kept.has(text)) {
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(text, new Reader(text).read());
  }
  return kept.get(text);
}

class Reader {
  readonly #tokens: readonly string[] | undefined;
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  read(): Condition | undefined {
    const condition = this.#any();
    return this.#at === this.#tokens?.length ? condition : undefined;
  }

  #peek(): string {
    return this.#tokens?.[this.#at] ?? '';
  }

  #takes(token: string): boolean {
    if (this.#peek().toUpperCase() !== token) return false;
    this.#at += 1;
    return true;
  }

  #any(): Condition | undefined {
    let left = this.#all();
    while (left !== undefined && this.#takes('OR')) left = either(left, this.#all());
    return left;
  }

  #all(): Condition | undefined {
    let left = this.#one();
    while (left !== undefined && this.#takes('AND')) left = both(left, this.#one());
    return left;
  }

  #one(): Condition | undefined {
    if (this.#takes('NOT')) {
      const inner = this.#one();
      return inner === undefined ? undefined : (item, of) => !inner(item, of);
    }
    if (this.#takes('(')) {
      const inner = this.#any();
      return this.#takes(')') ? inner : undefined;
    }
    if (this.#takes('ATTRIBUTE_EXISTS')) return this.#presence(true);
    if (this.#takes('ATTRIBUTE_NOT_EXISTS')) return this.#presence(false);
    return this.#comparison();
  }

  #presence(isWanted: boolean): Condition | undefined {
    if (!this.#takes('(')) return undefined;
    const operand = this.#operand();
    if (operand === undefined || !this.#takes(')')) return undefined;
    return (item, of) => (operand(item, of) !== undefined) === isWanted;
  }

  #comparison(): Condition | undefined {
    const left = this.#operand();
    const operator = this.#peek();
    const compares = COMPARES[operator];
    this.#at += 1;
    const right = this.#operand();
    if (left === undefined || right === undefined || compares === undefined) return undefined;
    return (item, of) => compares(left(item, of), right(item, of));
  }

  #operand(): Operand | undefined {
    const token = this.#peek();
    if (!/^[#:]?[A-Za-z_]\w*$/.test(token)) return undefined;
    this.#at += 1;
    if (token.startsWith(':')) return (_item, { values }) => values[token];
    if (!token.startsWith('#')) return (item) => item[token];
    return (item, { names }) => item[names[token] ?? ''];
  }
}

function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}

function either(left: Condition, right: Condition | undefined): Condition | undefined {
  return right && ((item, of) => left(item, of) || right(item, of));
}

function both(left: Condition, right: Condition | undefined): Condition | undefined {
  return right && ((item, of) => left(item, of) && right(item, of));
}

type Compares = (left: WireValue | undefined, right: WireValue | undefined) => boolean;

const COMPARES: Readonly<Record<string, Compares>> = {
  '=': isEqual,
  '<>': (left, right) => !isEqual(left, right),
  '<': (left, right) => isInOrder(left, right, (order) => order < 0),
  '<=': (left, right) => isInOrder(left, right, (order) => order <= 0),
  '>': (left, right) => isInOrder(left, right, (order) => order > 0),
  '>=': (left, right) => isInOrder(left, right, (order) => order >= 0),
};

/** A number that a double holds exactly; others are dynalite's to compare. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

interface Comparable {
  readonly type: string;
  readonly value: string | number;
}

/** The value that is compared: a text or a whole number. */
function comparableOf(wire: WireValue): Comparable {
  const [type = '', value] = Object.entries(wire)[0] ?? [];
  if (typeof value !== 'string')
    throw new Undecided(`a value of type ${type} is not compared here`);
  if (type === 'S') return { type, value };
  if (type === 'N' && INTEGER.test(value)) return { type, value: Number(value) };
  throw new Undecided(`${type} ${value} is not compared here`);
}

function isEqual(left: WireValue | undefined, right: WireValue | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [one, other] = [comparableOf(left), comparableOf(right)];
  return one.type === other.type && one.value === other.value;
}

function isInOrder(
  left: WireValue | undefined,
  right: WireValue | undefined,
  accepts: (order: number) => boolean,
): boolean {
  if (left === undefined || right === undefined) return false;
  const [one, other] = [comparableOf(left), comparableOf(right)];
  if (one.type !== other.type) return false;
  return accepts(one.value < other.value ? -1 : one.value > other.value ? 1 : 0);
}
