/**
 * Compare-and-set writes of items that are there: what is written at the same time travels in one
 * BatchExecuteStatement (ADR 0060), which is no transaction: each statement succeeds or fails by
 * itself. One that is not plainly answered is written once more by itself, under the same token
 * (table.ts), so that what cannot travel in a batch is never lost. One that hangs holds nobody: a
 * second may leave.
 */
import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { WriteResult } from '../../ports/stores/view-store.ts';
import { Flights } from '@rollcall/base/system/flights.ts';
import type { Boarding } from '@rollcall/base/system/flights.ts';
import { onePerClient } from './batched-reader.ts';
import type { ItemKey, StoredItem } from './item-codec.ts';

/** What has to be true of one attribute of an item that is there. */
export interface Standing {
  readonly attribute: string;
  readonly operator: '=' | '<';
  readonly value: unknown;
}

/** One write. */
export interface BatchableWrite {
  readonly tableName: string;
  readonly key: ItemKey;
  /** All that the item may have; undefined: without it. */
  readonly attributes: StoredItem;
  readonly where: Standing;
}

/** The same write by a request of its own. `mayStand`: a request before it may have written already. */
export type SingleWrite = (before: { readonly mayStand: boolean }) => Promise<WriteResult>;

interface PendingWrite {
  readonly write: BatchableWrite;
  readonly single: SingleWrite;
  readonly answer: (result: WriteResult) => void;
  readonly fail: (error: unknown) => void;
}

/** What BatchExecuteStatement takes at most. */
const STATEMENTS_MAX = 25;
/** A larger item travels alone: nobody waits for it. */
const BATCHED_BYTES_MAX = 64 * 1024;
/** Requests under way beside which nothing is waited for. */
const FLIGHTS_MAX = 2;

/** Gathers writes of one client. */
export class BatchedWriter {
  readonly #client: DynamoDBDocumentClient;
  readonly #flights = new Flights<PendingWrite>({
    flightsMax: FLIGHTS_MAX,
    board,
    send: (batch) =>
      this.#send(batch).catch((error: unknown) => {
        for (const { fail } of batch) fail(error);
      }),
  });

  constructor(client: DynamoDBDocumentClient) {
    this.#client = client;
  }

  /** Writes, together with others if there are any. */
  write(write: BatchableWrite, single: SingleWrite): Promise<WriteResult> {
    if (bytesOf(write.attributes) > BATCHED_BYTES_MAX) return single({ mayStand: false });
    return new Promise((answer, fail) => {
      this.#flights.add({ write, single, answer, fail });
    });
  }

  async #send(batch: readonly PendingWrite[]): Promise<void> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      only.answer(await only.single({ mayStand: false }));
      return;
    }
    const { Responses: answers = [], $metadata: sent } = await this.#client.send(
      new BatchExecuteStatementCommand({
        Statements: batch.map(({ write }) => statementOf(write)),
      }),
    );
    const isOnce = sent.attempts === 1;
    await Promise.all(
      batch.map(async ({ write, single, answer, fail }, index) => {
        const code = answers[index] === undefined ? 'Unanswered' : answers[index].Error?.Code;
        const isLost = code === 'ConditionalCheckFailed' && isOnce && write.where.operator === '=';
        if (code === undefined) answer('written');
        else if (isLost) answer('lost');
        else await single({ mayStand: true }).then(answer, fail);
      }),
    );
  }
}

/** The writer of a client. */
export const writerOf = onePerClient((client) => new BatchedWriter(client));

/** Each item once, in the order of asking. */
function board(pending: readonly PendingWrite[]): Boarding<PendingWrite> {
  const batch = new Map<string, PendingWrite>();
  const rest: PendingWrite[] = [];
  for (const each of pending) {
    const { tableName, key } = each.write;
    const id = `${tableName}\n${key.pk}\n${key.sk}`;
    if (batch.size === STATEMENTS_MAX || batch.has(id)) rest.push(each);
    else batch.set(id, each);
  }
  return { batch: [...batch.values()], rest };
}

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
