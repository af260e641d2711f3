// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- an ambient declaration cannot be imported
/// <reference path="./dynalite.d.ts" />
// What is used of dynalite's store beside dynalite itself: items by their key, as text, and its locks.
//
// An item is the JSON text that dynalite put there, under the key that dynalite makes of pk and sk. Who changes one holds the
// lock of its key, as dynalite does, so that neither sees the other half-way. Assumes tables with string keys pk and sk:
// `keyOf` says undefined to any other key.
import dynalite from 'dynalite';
import stores from 'dynalite/db/index.js';
import type { Server } from 'node:http';
import { closeIterators } from './closing-iterators.ts';
import type { WireValue } from './statement.ts';

/** An item as the wire has it. */
export type WireItem = Readonly<Record<string, WireValue>>;

/** The items of one table. */
export interface StoredItems {
  /** The text of an item; undefined: there is none. */
  readonly textOf: (key: string) => string | undefined;
  /** Changes an item while nobody else does; `change` answers what it becomes, or undefined: it stays. */
  readonly change: (
    key: string,
    change: (stored: string | undefined) => WireItem | undefined,
  ) => Promise<void>;
}

/** dynalite's store. */
export interface ItemStore {
  /** Undefined: there is no such table. */
  readonly itemsOf: (tableName: string) => StoredItems | undefined;
}

type DynaliteStore = ReturnType<typeof stores.create>;

const TEXT = { valueEncoding: 'utf8' } as const;
const KEY_SCHEMA = {
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S',
  })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
};

/** Opens dynalite and the store that it works on. */
export function openDynalite(options: Parameters<typeof dynalite>[0]): {
  readonly server: Server;
  readonly store: ItemStore;
} {
  closeIterators();
  const create = stores.create;
  let opened: DynaliteStore | undefined;
  stores.create = (given) => (opened = create(given));
  try {
    const server = dynalite(options);
    if (opened === undefined) throw new Error('dynalite has changed');
    return { server, store: storeOver(opened) };
  } finally {
    stores.create = create;
  }
}

/** The key under which dynalite has an item; undefined: not by two texts, and nothing else. */
export function keyOf(key: WireItem | undefined): string | undefined {
  if (key === undefined) return undefined;
  const { pk, sk } = key;
  if (!isText(pk) || !isText(sk)) return undefined;
  return stores.createKey({ pk, sk }, KEY_SCHEMA);
}

function isText(value: WireValue | undefined): boolean {
  const text = value?.['S'];
  return typeof text === 'string' && text !== '';
}

function storeOver(store: DynaliteStore): ItemStore {
  return {
    itemsOf: (tableName) => {
      const table = store.db.getSync(`table~${tableName}`, TEXT);
      if (table?.includes('"TableStatus":"ACTIVE"') !== true) return undefined;
      const items = store.getItemDb(tableName);
      const textOf = (key: string): string | undefined =>
        store.db.getSync(`item-${tableName}~${key}`, TEXT);
      return {
        textOf,
        change: (key, change) =>
          new Promise((resolve, reject) => {
            items.lock(key, (release) => {
              const finish = release((error?: Error | null) => {
                if (error === undefined || error === null) resolve();
                else reject(error);
              });
              let next: WireItem | undefined;
              try {
                next = change(textOf(key));
              } catch (error) {
                finish(error as Error); // what was thrown here is an error
                return;
              }
              if (next === undefined) finish();
              else items.put(key, next, finish);
            });
          }),
      };
    },
  };
}
