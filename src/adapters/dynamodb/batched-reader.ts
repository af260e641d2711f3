/**
 * Strongly consistent reads of single items: what is asked for at the same time travels in one
 * BatchGetItem, over both tables. An order that a caller relies on (protocol: position before
 * slices) stays one, since only reads under way side by side are gathered. A batch is no snapshot.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Flights } from '@rollcall/base/system/flights.ts';
import type { Boarding } from '@rollcall/base/system/flights.ts';
import type { ItemKey, StoredItem } from './item-codec.ts';

interface AskedItem {
  readonly tableName: string;
  readonly key: ItemKey;
}

interface PendingRead extends AskedItem {
  readonly id: string;
  readonly answer: (item: StoredItem | undefined) => void;
  readonly fail: (error: unknown) => void;
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
export function onePerClient<T extends object>(
  make: (client: DynamoDBDocumentClient) => T,
): (client: DynamoDBDocumentClient) => T {
  const made = new WeakMap<DynamoDBDocumentClient, T>();
  return (client) => {
    const known = made.get(client) ?? make(client);
    made.set(client, known);
    return known;
  };
}

/** Gathers reads of one client. */
export class BatchedReader {
  readonly #client: DynamoDBDocumentClient;
  readonly #projected: Projected;
  readonly #flights = new Flights<PendingRead>({
    flightsMax: Infinity,
    board,
    send: (batch) =>
      this.#read(batch).catch((error: unknown) => {
        for (const { fail } of batch) fail(error);
      }),
  });

  constructor(client: DynamoDBDocumentClient, projected: Projected = {}) {
    this.#client = client;
    this.#projected = projected;
  }

  get(tableName: string, key: ItemKey): Promise<StoredItem | undefined> {
    return new Promise((answer, fail) => {
      this.#flights.add({ tableName, key, id: idOf(tableName, key), answer, fail });
    });
  }

  async #read(batch: readonly PendingRead[]): Promise<void> {
    const asked = [...new Map(batch.map((read) => [read.id, read])).values()];
    const [only] = asked;
    const items =
      asked.length === 1 && only !== undefined
        ? await this.#readOne(only)
        : await this.#readMany(asked);
    for (const { id, answer } of batch) answer(items.get(id));
  }

  async #readOne({ tableName, key }: AskedItem): Promise<Map<string, StoredItem>> {
    const command = new GetCommand({
      TableName: tableName,
      Key: key,
      ConsistentRead: true,
      ...this.#projected,
    });
    const { Item: item } = await this.#client.send(command);
    return new Map(item === undefined ? [] : [[idOf(tableName, key), item]]);
  }

  async #readMany(batch: readonly AskedItem[]): Promise<Map<string, StoredItem>> {
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

/** The reader of a client. */
export const readerOf = onePerClient((client) => new BatchedReader(client));

/** The reader of stamps alone: one request has one projection. */
export const stampReaderOf = onePerClient(
  (client) => new BatchedReader(client, { ProjectionExpression: 'pk, sk, stamp' }),
);

/** As many keys as a request takes, with all who ask for them. */
function board(pending: readonly PendingRead[]): Boarding<PendingRead> {
  const ids = new Set<string>();
  const batch: PendingRead[] = [];
  const rest: PendingRead[] = [];
  for (const read of pending) {
    if (ids.size === KEYS_MAX && !ids.has(read.id)) {
      rest.push(read);
      continue;
    }
    ids.add(read.id);
    batch.push(read);
  }
  return { batch, rest };
}

function requestItems(batch: readonly AskedItem[], projected: Projected): RequestItems {
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
