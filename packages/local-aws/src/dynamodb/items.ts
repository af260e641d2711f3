// The items of one table, by their keys: partitions without order, and in each the items in the order of their sort keys.
//
// A page is as much of them as one answer takes.
import { compareText } from '@rollcall/base/compare-text.ts';
import type { Condition } from './expressions.ts';
import { sizeOfItem, tableErrors } from './values.ts';
import type { WireItem, WireValue } from './values.ts';

const PAGE_BYTES_MAX = 1024 * 1024;

/** What a table was created with. */
export interface Declared {
  readonly KeySchema: unknown;
  readonly AttributeDefinitions: unknown;
}

/** A key, as texts. */
export interface TableKey {
  readonly pk: string;
  readonly sk: string;
}

/** One table. */
export class LocalTable {
  readonly name: string;
  readonly declared: Declared;
  readonly partitions = new Map<string, Partition>();

  constructor(name: string, declared: Declared) {
    this.name = name;
    this.declared = declared;
  }

  get({ pk, sk }: TableKey): WireItem | undefined {
    return this.partitions.get(pk)?.get(sk);
  }

  set({ pk, sk }: TableKey, item: WireItem | undefined): void {
    const partition = this.partitions.get(pk) ?? new Partition();
    partition.set(sk, item);
    if (partition.isEmpty) this.partitions.delete(pk);
    else this.partitions.set(pk, partition);
  }
}

/** Items by their sort key; the order is made when it is asked for. */
class Partition {
  readonly #items = new Map<string, WireItem>();
  #order: readonly string[] | undefined;

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  get(sk: string): WireItem | undefined {
    return this.#items.get(sk);
  }

  set(sk: string, item: WireItem | undefined): void {
    if (this.#items.has(sk) !== (item !== undefined)) this.#order = undefined;
    if (item === undefined) this.#items.delete(sk);
    else this.#items.set(sk, item);
  }

  /** In the order of their keys. */
  *items(after?: string): Iterable<WireItem> {
    this.#order ??= [...this.#items.keys()].sort(compareText);
    for (const sk of this.#order) {
      const item = after === undefined || sk > after ? this.#items.get(sk) : undefined;
      if (item !== undefined) yield item;
    }
  }
}

interface Paged {
  readonly Limit?: number;
  readonly matches: Condition;
  readonly show: (item: WireItem) => WireItem;
}

/** Items up to the limit or a megabyte; where there is more, the key that the next page is after. */
export function pageOf(
  items: Iterable<WireItem>,
  { Limit = Infinity, matches, show }: Paged,
): object {
  const Items: WireItem[] = [];
  let bytes = 0;
  let last: WireItem | undefined;
  for (const item of items) {
    if (!matches(item)) continue;
    if (last !== undefined && (Items.length >= Limit || bytes >= PAGE_BYTES_MAX)) {
      const { pk, sk } = last;
      return { Items, Count: Items.length, LastEvaluatedKey: { pk, sk } };
    }
    Items.push(show(item));
    bytes += sizeOfItem(item);
    last = item;
  }
  return { Items, Count: Items.length };
}

/** The key of a whole item. */
export function keyOf({ pk, sk }: WireItem): TableKey {
  return { pk: textOf(pk), sk: textOf(sk) };
}

/** A key by itself. Throws TableError where it is more. */
export function keyIn(key: WireItem | undefined): TableKey {
  const { pk, sk, ...others } = key ?? {};
  if (Object.keys(others).length === 0) return { pk: textOf(pk), sk: textOf(sk) };
  throw tableErrors.validation('The provided key element does not match the schema');
}

/** A part of a key. Throws TableError where it is none. */
export function textOf(value: WireValue | undefined): string {
  const text = value?.['S'];
  if (typeof text === 'string' && text !== '') return text;
  throw tableErrors.validation('A key of the table is missing or no text');
}
