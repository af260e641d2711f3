/**
 * Simultaneous requests to tables travel together in one, over both tables: reads of items
 * in a BatchGetItem, strongly consistent; compare-and-set writes in a BatchExecuteStatement, of which
 * ten cost a quarter of the CPU that they cost alone (ADR 0048). Neither is a snapshot or a
 * transaction. An order that a caller relies on (protocol: position before slices) stays one, since
 * only what is under way side by side is gathered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BatchExecuteStatementCommand, BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchesInFlight } from '@rollcall/base/system/batches-in-flight.ts';
import type { WriteResult } from '../../ports/stores/view-store.ts';
import { keyIn, type ItemKey, type StoredItem } from './item-codec.ts';

interface AskedItem {
  readonly tableName: string;
  readonly key: ItemKey;
}

function idOf({ tableName, key }: AskedItem): string {
  return `${tableName}\n${key.pk}\n${key.sk}`;
}

interface Plan<T, R> {
  /** Items of one request at most; whether two who ask for the same item may share it. */
  readonly itemsMax: number;
  readonly sameItem: 'together' | 'apart';
  /** Requests under way beside which nothing is sent. */
  readonly inFlightMax: number;
  /** Makes the request; what comes of each that asked. */
  readonly send: (batch: readonly T[]) => Promise<(asked: T, index: number) => R | Promise<R>>;
}

interface Pending<T, R> {
  readonly asked: T;
  readonly answer: (result: R | Promise<R>) => void;
  readonly fail: (error: unknown) => void;
}

class Gathering<T extends AskedItem, R> {
  readonly #flights: BatchesInFlight<Pending<T, R>>;

  constructor({ itemsMax, sameItem, inFlightMax, send }: Plan<T, R>) {
    this.#flights = new BatchesInFlight<Pending<T, R>>({
      inFlightMax,
      board: (pending) => {
        const ids = new Set<string>();
        const batch: Pending<T, R>[] = [];
        const rest: Pending<T, R>[] = [];
        for (const each of pending) {
          const id = idOf(each.asked);
          const isLeft = ids.has(id) ? sameItem === 'apart' : ids.size === itemsMax;
          (isLeft ? rest : batch).push(each);
          if (!isLeft) ids.add(id);
        }
        return { batch, rest };
      },
      send: async (batch) => {
        try {
          const resultOf = await send(batch.map(({ asked }) => asked));
          const results = batch.map(({ asked }, index) => resultOf(asked, index));
          for (const [index, result] of results.entries()) batch[index]?.answer(result);
          await Promise.allSettled(results);
        } catch (error) {
          for (const { fail } of batch) fail(error);
        }
      },
    });
  }

  ask(asked: T): Promise<R> {
    return new Promise((answer, fail) => {
      this.#flights.add({ asked, answer, fail });
    });
  }
}

/** One for each client, so that both tables share batches. */
function onePerClient<T extends object>(
  make: (client: DynamoDBDocumentClient) => T,
): (client: DynamoDBDocumentClient) => T {
  const made = new WeakMap<DynamoDBDocumentClient, T>();
  return (client) => {
    const known = made.get(client) ?? make(client);
    made.set(client, known);
    return known;
  };
}

/** The limit of BatchGetItem. */
const KEYS_MAX = 100;
/** Keys that a throttled table left over are asked for again, with growing pauses. */
const LEFTOVER_TRIES_MAX = 6;
const LEFTOVER_PAUSE_MS = 20;

type RequestItems = Record<string, { Keys: Record<string, unknown>[]; ConsistentRead: true }>;

export class BatchedReader {
  readonly #client: DynamoDBDocumentClient;
  readonly #reads = new Gathering<AskedItem, StoredItem | undefined>({
    itemsMax: KEYS_MAX,
    sameItem: 'together',
    inFlightMax: Infinity,
    send: async (batch) => {
      const asked = [...new Map(batch.map((read) => [idOf(read), read])).values()];
      const [only] = asked;
      const isAlone = asked.length === 1 && only !== undefined;
      const items = isAlone ? await this.#readOne(only) : await this.#readMany(asked);
      return (read) => items.get(idOf(read));
    },
  });

  constructor(client: DynamoDBDocumentClient) {
    this.#client = client;
  }

  get(tableName: string, key: ItemKey): Promise<StoredItem | undefined> {
    return this.#reads.ask({ tableName, key });
  }

  async #readOne({ tableName, key }: AskedItem): Promise<Map<string, StoredItem>> {
    const command = new GetCommand({
      TableName: tableName,
      Key: key,
      ConsistentRead: true,
    });
    const { Item: item } = await this.#client.send(command);
    return new Map(item === undefined ? [] : [[idOf({ tableName, key }), item]]);
  }

  async #readMany(batch: readonly AskedItem[]): Promise<Map<string, StoredItem>> {
    const items = new Map<string, StoredItem>();
    let asked = requestItems(batch);
    for (let attempt = 0; attempt < LEFTOVER_TRIES_MAX; attempt += 1) {
      if (attempt > 0) await delay(LEFTOVER_PAUSE_MS * 2 ** attempt);
      const answer = await this.#client.send(new BatchGetCommand({ RequestItems: asked }));
      for (const [tableName, found] of Object.entries(answer.Responses ?? {})) {
        for (const item of found) items.set(idOf({ tableName, key: keyIn(item) }), item);
      }
      const leftover = Object.entries(answer.UnprocessedKeys ?? {});
      if (leftover.length === 0) return items;
      asked = Object.fromEntries(
        leftover.map(([name, { Keys = [] }]) => [name, { Keys, ConsistentRead: true }]),
      );
    }
    throw new Error('the table kept leaving keys of a batch unread: it throttles');
  }
}

function requestItems(batch: readonly AskedItem[]): RequestItems {
  const asked: RequestItems = {};
  for (const { tableName, key } of batch) {
    const table = (asked[tableName] ??= { Keys: [], ConsistentRead: true });
    table.Keys.push({ ...key });
  }
  return asked;
}

export const readerOf = onePerClient((client) => new BatchedReader(client));

export interface Standing {
  readonly attribute: string;
  readonly operator: '=' | '<';
  readonly value: unknown;
}

export interface BatchableWrite extends AskedItem {
  /** All that the item may have; undefined: without it. */
  readonly attributes: StoredItem;
  readonly where: Standing;
}

/** The same write by a request of its own. `mayStand`: a request before it may have written already. */
export type SingleWrite = (before: { readonly mayStand: boolean }) => Promise<WriteResult>;

/** The limit of BatchExecuteStatement. */
const STATEMENTS_MAX = 25;
/** A larger item travels alone and delays no other. */
const BATCHED_BYTES_MAX = 64 * 1024;
/** A request that hangs delays no other: a second one may leave. */
const IN_FLIGHT_MAX = 2;

/**
 * Gathers writes of one client. Each statement succeeds or fails by itself. One that is not plainly
 * answered is written once more by itself, under the same token (table.ts), so that what cannot
 * travel in a batch is never lost.
 */
export class BatchedWriter {
  readonly #client: DynamoDBDocumentClient;
  readonly #writes = new Gathering<BatchableWrite & { readonly single: SingleWrite }, WriteResult>({
    itemsMax: STATEMENTS_MAX,
    sameItem: 'apart',
    inFlightMax: IN_FLIGHT_MAX,
    send: async (batch) => {
      if (batch.length === 1) return ({ single }) => single({ mayStand: false });
      const { Responses: answers = [], $metadata: sent } = await this.#client.send(
        new BatchExecuteStatementCommand({ Statements: batch.map(statementOf) }),
      );
      const isOnce = sent.attempts === 1;
      return ({ where, single }, index) => {
        const code = answers[index] === undefined ? 'Unanswered' : answers[index].Error?.Code;
        const isLost = code === 'ConditionalCheckFailed' && isOnce && where.operator === '=';
        if (code === undefined) return 'written';
        return isLost ? 'lost' : single({ mayStand: true });
      };
    },
  });

  constructor(client: DynamoDBDocumentClient) {
    this.#client = client;
  }

  /** Writes, together with others if there are any. */
  write(write: BatchableWrite, single: SingleWrite): Promise<WriteResult> {
    if (bytesOf(write.attributes) > BATCHED_BYTES_MAX) return single({ mayStand: false });
    return this.#writes.ask({ ...write, single });
  }
}

export const writerOf = onePerClient((client) => new BatchedWriter(client));

/** An update fails where there is no item: a condition that such an item would meet is asked by the single write. */
function statementOf({ tableName, key, attributes, where }: BatchableWrite): {
  readonly Statement: string;
  readonly Parameters: unknown[];
} {
  const entries = Object.entries(attributes);
  const set = entries.filter(([, value]) => value !== undefined);
  const clauses = [
    ...set.map(([name]) => `SET "${name}"=?`),
    ...entries.filter(([, value]) => value === undefined).map(([name]) => `REMOVE "${name}"`),
  ];
  const condition = `"pk"=? AND "sk"=? AND "${where.attribute}"${where.operator}?`;
  return {
    Statement: `UPDATE "${tableName}" ${clauses.join(' ')} WHERE ${condition}`,
    Parameters: [...set.map(([, value]) => value), key.pk, key.sk, where.value],
  };
}

function bytesOf(attributes: StoredItem): number {
  return Object.values(attributes).reduce<number>(
    (sum, value) => sum + (value instanceof Uint8Array ? value.byteLength : 0),
    0,
  );
}
