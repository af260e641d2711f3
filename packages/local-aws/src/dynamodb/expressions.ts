// The expressions of a request, read over its placeholders: conditions, updates, projections, keys.
//
// What is not known here is refused by name: `size`, BETWEEN, IN, elements of lists, filters.
import { RESERVED_WORDS } from './reserved-words.ts';
import { compare, isEqual, numberOf, setOf, tableErrors } from './values.ts';
import type { WireItem, WireValue } from './values.ts';

/** What the placeholders of a request stand for. */
export interface Placeholders {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: WireItem | undefined;
}

/** Whether it holds of an item; one that is missing is empty. */
export type Condition = (item: WireItem) => boolean;

/** What becomes of an item. */
export type Change = (item: WireItem) => WireItem;

type Path = readonly string[];
type Operand = (item: WireItem) => WireValue | undefined;
type Updated = (stored: WireItem, draft: WireItem) => WireItem;

const TOKEN = /\s*(<>|<=|>=|[=<>(),+-]|[#:]?[A-Za-z_0-9]+(?:\.#?[A-Za-z_0-9]+)*)/y;
const KEY = new Set(['pk', 'sk']);

/** Reads the expressions of one request; `end` refuses placeholders that none of them used. */
export class Expressions {
  readonly #names: Readonly<Record<string, string>>;
  readonly #values: WireItem;
  readonly #used = new Set<string>();

  constructor({ ExpressionAttributeNames, ExpressionAttributeValues }: Placeholders) {
    this.#names = ExpressionAttributeNames ?? {};
    this.#values = ExpressionAttributeValues ?? {};
  }

  /** A condition; without a text it always holds. */
  condition(text: string | undefined): Condition {
    if (text === undefined) return () => true;
    return this.#read('ConditionExpression', text, (reader) => reader.any());
  }

  /** An update; without a text it changes nothing. */
  update(text: string | undefined): Change {
    if (text === undefined) return (item) => item;
    const changes = this.#read('UpdateExpression', text, (reader) => reader.updates());
    return (stored) => changes.reduce((draft, change) => change(stored, draft), stored);
  }

  /** What is shown of an item; without a text all of it. */
  projection(text: string | undefined): Change {
    if (text === undefined) return (item) => item;
    const names = this.#read('ProjectionExpression', text, (reader) => reader.names());
    return (item) =>
      Object.fromEntries(
        names.flatMap((name) => {
          const value = item[name];
          return value === undefined ? [] : [[name, value] as const];
        }),
      );
  }

  /** The partition that a query asks for, and which of its items. */
  key(text: string): { readonly partition: WireValue | undefined; readonly matches: Condition } {
    return this.#read('KeyConditionExpression', text, (reader) => reader.key());
  }

  /** Throws TableError where a placeholder was not used. */
  end(): void {
    const given = { ...this.#names, ...this.#values };
    const unused = Object.keys(given).filter((name) => !this.#used.has(name));
    if (unused.length === 0) return;
    const kind = unused[0]?.startsWith('#') === true ? 'Names' : 'Values';
    throw tableErrors.validation(
      `Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${unused.join(', ')}}`,
    );
  }

  #read<T>(name: string, text: string, read: (reader: Reader) => T): T {
    const refuse = (why: string): never => {
      throw tableErrors.validation(`Invalid ${name}: ${why}`);
    };
    const find = <V>(held: Readonly<Record<string, V>>, placeholder: string): V => {
      this.#used.add(placeholder);
      return held[placeholder] ?? refuse(`${placeholder} is not defined`);
    };
    const reader = new Reader(text, {
      refuse,
      nameOf: (placeholder) => find(this.#names, placeholder),
      valueOf: (placeholder) => find(this.#values, placeholder),
    });
    const result = read(reader);
    reader.end();
    return result;
  }
}

interface Reading {
  readonly refuse: (why: string) => never;
  readonly nameOf: (placeholder: string) => string;
  readonly valueOf: (placeholder: string) => WireValue;
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #reading: Reading;
  readonly #unknown: () => never;
  #at = 0;

  constructor(text: string, reading: Reading) {
    this.#reading = reading;
    this.#unknown = () => reading.refuse(`this local table does not know: ${text}`);
    this.#tokens = tokensOf(text) ?? this.#unknown();
  }

  end(): void {
    if (this.#at < this.#tokens.length) this.#unknown();
  }

  any(): Condition {
    const parts = [this.#all()];
    while (this.#takes('OR')) parts.push(this.#all());
    return (item) => parts.some((part) => part(item));
  }

  #all(): Condition {
    const parts = [this.#one()];
    while (this.#takes('AND')) parts.push(this.#one());
    return (item) => parts.every((part) => part(item));
  }

  #one(): Condition {
    if (this.#takes('NOT')) {
      const inner = this.#one();
      return (item) => !inner(item);
    }
    if (this.#takes('(')) {
      const inner = this.any();
      this.#expect(')');
      return inner;
    }
    return this.#tokens[this.#at + 1] === '(' ? this.#function() : this.#comparison();
  }

  #function(): Condition {
    const name = this.#next();
    this.#expect('(');
    const path = this.#path();
    const operand = this.#takes(',') ? this.#operand() : undefined;
    this.#expect(')');
    if (operand === undefined) {
      if (name === 'attribute_exists') return (item) => at(item, path) !== undefined;
      if (name === 'attribute_not_exists') return (item) => at(item, path) === undefined;
      return this.#unknown();
    }
    if (name === 'begins_with') return (item) => beginsWith(at(item, path), operand(item));
    return name === 'contains'
      ? (item) => contains(at(item, path), operand(item))
      : this.#unknown();
  }

  #comparison(): Condition {
    const left = this.#operand();
    const compares = COMPARES[this.#next()] ?? this.#unknown();
    const right = this.#operand();
    return (item) => compares(left(item), right(item));
  }

  /** The partition by its value, and what may be asked of the sort key. */
  key(): { readonly partition: WireValue | undefined; readonly matches: Condition } {
    this.#expect('pk');
    this.#expect('=');
    const partition = this.#value();
    if (!this.#takes('AND')) return { partition, matches: () => true };
    const isFunction = this.#tokens[this.#at + 1] === '(';
    if (this.#tokens[this.#at + (isFunction ? 2 : 0)] !== 'sk') this.#unknown();
    return { partition, matches: isFunction ? this.#function() : this.#comparison() };
  }

  names(): readonly string[] {
    return this.#list(() => {
      const [name = '', ...inner] = this.#path();
      return inner.length === 0 ? name : this.#unknown();
    });
  }

  updates(): readonly Updated[] {
    const changes: Updated[] = [];
    const touched = new Set<string>();
    const path = (): Path => {
      const read = this.#path();
      if (KEY.has(read[0] ?? '')) {
        this.#reading.refuse(`Cannot update attribute ${read.join('.')}. It is part of the key`);
      }
      if (touched.has(read.join('.'))) this.#reading.refuse('Two document paths overlap');
      touched.add(read.join('.'));
      return read;
    };
    while (this.#at < this.#tokens.length) {
      const clause = CLAUSES[this.#next().toUpperCase()] ?? this.#unknown();
      changes.push(
        ...this.#list((): Updated => {
          const target = path();
          if (clause === 'assign') {
            this.#expect('=');
            const value = this.#sum();
            return (stored, draft) => put(draft, target, value(stored));
          }
          if (clause === 'remove') return (_stored, draft) => put(draft, target, undefined);
          const given = this.#value();
          return (stored, draft) => put(draft, target, clause(at(stored, target), given));
        }),
      );
    }
    return changes;
  }

  #list<T>(read: () => T): readonly T[] {
    const list = [read()];
    while (this.#takes(',')) list.push(read());
    return list;
  }

  #sum(): (stored: WireItem) => WireValue {
    const left = this.#term();
    const sign = this.#takes('+') ? 1 : this.#takes('-') ? -1 : undefined;
    if (sign === undefined) return left;
    const right = this.#term();
    return (stored) => sum(left(stored), right(stored), sign);
  }

  #term(): (stored: WireItem) => WireValue {
    const isDefault = this.#takes('if_not_exists');
    if (isDefault) this.#expect('(');
    const operand = this.#operand();
    if (!isDefault) return (stored) => operand(stored) ?? this.#reading.refuse(MISSING);
    this.#expect(',');
    const otherwise = this.#operand();
    this.#expect(')');
    return (stored) => operand(stored) ?? otherwise(stored) ?? this.#reading.refuse(MISSING);
  }

  #operand(): Operand {
    if (this.#tokens[this.#at]?.startsWith(':') === true) {
      const value = this.#value();
      return () => value;
    }
    const path = this.#path();
    return (item) => at(item, path);
  }

  #value(): WireValue {
    const token = this.#next();
    return token.startsWith(':') ? this.#reading.valueOf(token) : this.#unknown();
  }

  #path(): Path {
    const token = this.#next();
    if (!/^[#A-Za-z]/.test(token)) this.#unknown();
    return token.split('.').map((name) => {
      if (name.startsWith('#')) return this.#reading.nameOf(name);
      if (!RESERVED_WORDS.has(name.toUpperCase())) return name;
      return this.#reading.refuse(
        `Attribute name is a reserved keyword; reserved keyword: ${name}`,
      );
    });
  }

  #next(): string {
    const token = this.#tokens[this.#at] ?? this.#unknown();
    this.#at += 1;
    return token;
  }

  #takes(token: string): boolean {
    const isNext = this.#tokens[this.#at]?.toUpperCase() === token.toUpperCase();
    if (isNext) this.#at += 1;
    return isNext;
  }

  #expect(token: string): void {
    if (this.#next() !== token) this.#unknown();
  }
}

const MISSING = 'it refers to an attribute that does not exist in the item';

const COMPARES: Readonly<
  Record<string, (left: WireValue | undefined, right: WireValue | undefined) => boolean>
> = {
  '=': isEqual,
  '<>': (left, right) => !isEqual(left, right),
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
};

/** What a clause makes of an attribute and the value that it gives. */
type Clause = (stored: WireValue | undefined, given: WireValue) => WireValue | undefined;

const CLAUSES: Readonly<Record<string, Clause | 'assign' | 'remove'>> = {
  SET: 'assign',
  REMOVE: 'remove',
  ADD: add,
  DELETE: takeAway,
};

function tokensOf(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (const end = text.trimEnd().length; TOKEN.lastIndex < end;) {
    const [, token] = TOKEN.exec(text) ?? [];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}

function at(item: WireItem, [name = '', ...inner]: Path): WireValue | undefined {
  const value = item[name];
  if (inner.length === 0 || value === undefined) return value;
  return at((value['M'] ?? {}) as WireItem, inner);
}

function put(item: WireItem, [name = '', ...inner]: Path, value: WireValue | undefined): WireItem {
  if (inner.length > 0) {
    const map = item[name]?.['M'] as WireItem | undefined;
    if (map !== undefined) return { ...item, [name]: { M: put(map, inner, value) } };
    throw tableErrors.validation('The document path of the update is not in the item');
  }
  if (value !== undefined) return { ...item, [name]: value };
  const { [name]: _removed, ...others } = item;
  return others;
}

function beginsWith(value: WireValue | undefined, prefix: WireValue | undefined): boolean {
  const [text, start] = [value?.['S'], prefix?.['S']];
  return typeof text === 'string' && typeof start === 'string' && text.startsWith(start);
}

function contains(value: WireValue | undefined, part: WireValue | undefined): boolean {
  if (value === undefined || part === undefined) return false;
  const [held] = Object.values(part);
  const set = setOf(value);
  if (set !== undefined)
    return part[set.type.charAt(0)] !== undefined && set.members.includes(String(held));
  return typeof value['S'] === 'string' && value['S'].includes(String(part['S']));
}

function sum(left: WireValue, right: WireValue, sign: number): WireValue {
  return { N: String(numberOf(left['N']) + sign * numberOf(right['N'])) };
}

function add(stored: WireValue | undefined, given: WireValue): WireValue {
  const set = setOf(given);
  if (set === undefined) return sum(stored ?? { N: '0' }, given, 1);
  const members = (stored?.[set.type] ?? []) as readonly string[];
  if (stored !== undefined && members.length === 0) throw mismatch();
  return { [set.type]: [...new Set([...members, ...set.members])] };
}

function takeAway(stored: WireValue | undefined, given: WireValue): WireValue | undefined {
  const set = setOf(given);
  if (set === undefined) throw mismatch();
  if (stored === undefined) return undefined;
  const members = stored[set.type] as readonly string[] | undefined;
  if (members === undefined) throw mismatch();
  const left = members.filter((member) => !set.members.includes(member));
  return left.length === 0 ? undefined : { [set.type]: left };
}

function mismatch(): Error {
  return tableErrors.validation('An operand in the update expression has an incorrect data type');
}
