/**
 * Strongly consistent reads of single items: what is asked for at the same time travels in one BatchGetItem, over
 * both tables.
 *
 * A reconcile reads six small items in two steps; a request each costs more time and CPU than the items do. Only
 * reads under way side by side are gathered, so an order that a caller relies on (protocol: position before
 * slices) stays one. A batch is no snapshot, and nobody takes it for one. A failed request rejects each of its
 * reads (spec faults 32).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ItemKey } from './item-keys.ts';

/** An item as stored, keys included. */
export type StoredItem = Readonly<Record<string, unknown>>;

interface PendingRead {
  readonly tableName: string;
  readonly key: ItemKey;
  readonly answers: ((item: StoredItem | undefined) => void)[];
  readonly failures: ((error: unknown) => void)[];
}

/** Which attributes are read; nothing here: all. */
interface Projected {
  readonly ProjectionExpression?: string;
}

type Asked = { Keys: Record<string, unknown>[]; ConsistentRead: true } & Projected;
type RequestItems = Record<string, Asked>;

/** What BatchGetItem takes at most. */
const KEYS_MAX = 100;
/** Keys that a throttled table left over are asked for again, with growing pauses. */
const LEFTOVER_TRIES_MAX = 6;
const LEFTOVER_PAUSE_MS = 20;

/** One for each client, so that both tables share batches. */
function readersWith(projected: Projected): (client: DynamoDBDocumentClient) => BatchedReader {
  const readers = new WeakMap<DynamoDBDocumentClient, BatchedReader>();
  return (client) => {
    const known = readers.get(client);
    if (known !== undefined) return known;
    const reader = new BatchedReader(client, projected);
    readers.set(client, reader);
    return reader;
  };
}

/** The reader of a client. */
export const readerOf = readersWith({});

/** The reader of stamps alone: one request has one projection. */
export const stampReaderOf = readersWith({ ProjectionExpression: 'pk, sk, stamp' });

/** Gathers reads of one client. */
export class BatchedReader {
  readonly #client: DynamoDBDocumentClient;
  readonly #projected: Projected;
  #pending = new Map<string, PendingRead>();
  #isScheduled = false;

  constructor(client: DynamoDBDocumentClient, projected: Projected = {}) {
    this.#client = client;
    this.#projected = projected;
  }

  get(tableName: string, key: ItemKey): Promise<StoredItem | undefined> {
    return new Promise((resolve, reject) => {
      const id = idOf(tableName, key);
      const pending = this.#pending.get(id) ?? { tableName, key, answers: [], failures: [] };
      pending.answers.push(resolve);
      pending.failures.push(reject);
      this.#pending.set(id, pending);
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#flush();
      });
    });
  }

  #flush(): void {
    this.#isScheduled = false;
    const reads = [...this.#pending.values()];
    this.#pending = new Map();
    for (let from = 0; from < reads.length; from += KEYS_MAX) {
      const batch = reads.slice(from, from + KEYS_MAX);
      this.#read(batch).catch((error: unknown) => {
        for (const { failures } of batch) for (const fail of failures) fail(error);
      });
    }
  }

  async #read(batch: readonly PendingRead[]): Promise<void> {
    const [only] = batch;
    const items =
      batch.length === 1 && only !== undefined
        ? await this.#readOne(only)
        : await this.#readMany(batch);
    for (const read of batch) {
      const item = items.get(idOf(read.tableName, read.key));
      for (const answer of read.answers) answer(item);
    }
  }

  async #readOne({ tableName, key }: PendingRead): Promise<Map<string, StoredItem>> {
    const command = new GetCommand({
      TableName: tableName,
      Key: key,
      ConsistentRead: true,
      ...this.#projected,
    });
    const { Item: item } = await this.#client.send(command);
    return new Map(item === undefined ? [] : [[idOf(tableName, key), item]]);
  }

  async #readMany(batch: readonly PendingRead[]): Promise<Map<string, StoredItem>> {
    const items = new Map<string, StoredItem>();
    let asked = requestItems(batch, this.#projected);
    for (let attempt = 0; attempt < LEFTOVER_TRIES_MAX; attempt += 1) {
      if (attempt > 0) await delay(LEFTOVER_PAUSE_MS * 2 ** attempt);
      const answer = await this.#client.send(new BatchGetCommand({ RequestItems: asked }));
      for (const [tableName, found] of Object.entries(answer.Responses ?? {})) {
        for (const item of found) items.set(idOf(tableName, item as unknown as ItemKey), item); // keys are part of an item
      }
      const leftover = Object.entries(answer.UnprocessedKeys ?? {});
      if (leftover.length === 0) return items;
      asked = Object.fromEntries(
        leftover.map(([name, { Keys = [] }]) => [
          name,
          { Keys, ConsistentRead: true, ...this.#projected },
        ]),
      );
    }
    throw new Error('the table kept leaving keys of a batch unread: it throttles');
  }
}

function requestItems(batch: readonly PendingRead[], projected: Projected): RequestItems {
  const asked: RequestItems = {};
  for (const { tableName, key } of batch) {
    const table = (asked[tableName] ??= { Keys: [], ConsistentRead: true, ...projected });
    table.Keys.push({ ...key });
  }
  return asked;
}

function idOf(tableName: string, { pk, sk }: ItemKey): string {
  return `${tableName}\n${pk}\n${sk}`;
}
