/**
 * One table: consistent reads and single-item compare-and-set, the only operations there are.
 *
 * A condition that fails is a value (`lost`), everything else rejects. When the SDK repeated a write
 * whose answer was lost, our own success looks like a failed condition (spec faults 33): each write
 * carries a token, and an item that bears it is ours.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { defined } from '@rollcall/base/defined.ts';
import { pagesOf } from '@rollcall/base/pages.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { WriteResult } from '../../ports/stores/view-store.ts';
import { readerOf, writerOf, type SingleWrite, type Standing } from './batches.ts';
import { ItemTooLargeError, ItemUnreadableError, keyIn } from './item-codec.ts';
import type { ItemKey, RecordKind, RecordPlace, StoredItem } from './item-codec.ts';

/** Options of a store over one table. */
export interface DynamoStoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly random: Random;
  /** Told of each record that is about to be written. */
  readonly onWrite?: (key: ItemKey, attributes: StoredItem) => void;
}

/** A condition; names need a `#` placeholder only where they are reserved words. */
export interface Condition {
  readonly expression: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
  /** The same of an item that is there; where it fails, `expression` may hold of one that is not. */
  readonly standing?: Standing | undefined;
}

/** Which part of a partition, in key order. */
export interface PartitionQuery {
  readonly pk: string;
  readonly after?: string | undefined;
  readonly limit?: number;
  /** Only these attributes; all when absent. */
  readonly attributes?: readonly string[];
}

const WRITER = 'writer';

export class Table {
  private readonly client: DynamoDBDocumentClient;
  private readonly tableName: string;
  private readonly random: Random;
  private readonly onWrite: DynamoStoreOptions['onWrite'];

  constructor(options: DynamoStoreOptions) {
    this.client = options.client;
    this.tableName = options.tableName;
    this.random = options.random;
    this.onWrite = options.onWrite;
  }

  token(): string {
    return this.random.uniqueId();
  }

  get(key: ItemKey): Promise<StoredItem | undefined> {
    return readerOf(this.client).get(this.tableName, key);
  }

  /** A record, as its kind reads it; undefined when there is none. */
  async read<Name extends readonly unknown[], T>(
    kind: RecordKind<Name, T, never>,
    ...name: Name
  ): Promise<T | undefined> {
    const key = kind.keyOf(...name);
    const item = await this.get(key);
    return item === undefined ? undefined : kind.read(item, key);
  }

  /** One page of records of a partition. */
  async list<T>(
    kind: RecordKind<never, T, never>,
    query: PartitionQuery,
  ): Promise<{ readonly records: readonly T[]; readonly cursor?: string }> {
    const { items, ...next } = await this.query(query);
    return { records: items.map((item) => kind.read(item, keyIn(item))), ...next };
  }

  /** The same, where one that cannot be read hides nothing else: `unreadable` has what `tell` makes of it. */
  async listReadable<T, Told>(
    kind: RecordKind<never, T, never>,
    query: PartitionQuery,
    tell: (error: ItemUnreadableError, key: ItemKey) => Told,
  ): Promise<{
    readonly records: readonly T[];
    readonly unreadable: readonly Told[];
    readonly cursor?: string;
  }> {
    const { items, ...next } = await this.query(query);
    const records: T[] = [];
    const unreadable: Told[] = [];
    for (const item of items) {
      const key = keyIn(item);
      try {
        records.push(kind.read(item, key));
      } catch (error) {
        if (!(error instanceof ItemUnreadableError)) throw error;
        unreadable.push(tell(error, key));
      }
    }
    return { records, unreadable, ...next };
  }

  /** Writes a record as its kind is written, if the condition holds. */
  async writeIf<T>(
    { key, kind }: RecordPlace<T>,
    record: T,
    condition: Condition,
  ): Promise<WriteResult> {
    const attributes = kind.attributes(record, key);
    this.onWrite?.(key, attributes);
    if (kind.written === 'put') return this.putIf(key, attributes, condition);
    if (kind.written === 'batched') return this.replaceIf(key, attributes, condition);
    return this.updateIf(key, attributes, { ...condition, ...defined({ writer: kind.tokenIn }) });
  }

  /** The same if the stored version is the record's (0: there is none yet); the written one is one more. */
  writeNext<T extends { readonly version: number }>(
    place: RecordPlace<T>,
    record: T,
  ): Promise<WriteResult> {
    const next = { ...record, version: record.version + 1 };
    return this.writeIf(place, next, ifVersion(record.version));
  }

  /** Without a condition. */
  async write<T>({ key, kind }: RecordPlace<T>, record: T): Promise<void> {
    const item = { ...defined(kind.attributes(record, key)), ...key };
    try {
      await this.client.send(new PutCommand({ TableName: this.tableName, Item: item }));
    } catch (error) {
      throw asItemTooLarge(key, error);
    }
  }

  /** One page of a partition, strongly consistent, in key order; `cursor`: what the next page is after. */
  async query(
    query: PartitionQuery,
  ): Promise<{ readonly items: readonly StoredItem[]; readonly cursor?: string }> {
    const { pk, after, limit, attributes } = query;
    const answer = await this.client.send(
      new QueryCommand({
        TableName: this.tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ...defined({
          Limit: limit,
          ExclusiveStartKey: after === undefined ? undefined : { pk, sk: after },
          ProjectionExpression: attributes?.map((_, index) => `#a${index}`).join(', '),
          ExpressionAttributeNames:
            attributes && Object.fromEntries(attributes.map((name, index) => [`#a${index}`, name])),
        }),
      }),
    );
    const cursor = answer.LastEvaluatedKey?.['sk'] as string | undefined; // keys are texts
    return { items: answer.Items ?? [], ...defined({ cursor }) };
  }

  /** Every key of a partition, a page at a time. */
  async *keysOf(pk: string, from?: string): AsyncGenerator<readonly ItemKey[], void> {
    const attributes = ['sk'];
    const pages = pagesOf(({ cursor }) => this.query({ pk, after: cursor, attributes }), {
      cursor: from,
    });
    for await (const { items } of pages) yield items.map(({ sk }) => ({ pk, sk: String(sk) }));
  }

  putIf(key: ItemKey, attributes: StoredItem, condition: Condition): Promise<WriteResult> {
    return this.replaceIf(key, attributes, { ...condition, standing: undefined });
  }

  /**
   * The same, in company of others where the condition is about an item that is there. `attributes`
   * names all that such an item may have: those that are undefined are taken away.
   */
  async replaceIf(
    key: ItemKey,
    attributes: StoredItem,
    condition: Condition,
  ): Promise<WriteResult> {
    const { tableName, client } = this;
    const token = this.token();
    const item = { ...attributes, [WRITER]: token };
    const single: SingleWrite = ({ mayStand }) =>
      this.compareAndSet({ key, token, writer: WRITER, mayStand }, () =>
        client.send(
          new PutCommand({
            TableName: tableName,
            Item: { ...defined(item), ...key },
            ...conditionOf(condition),
          }),
        ),
      );
    const { standing: where } = condition;
    if (where === undefined) return single({ mayStand: false });
    return writerOf(client).write({ tableName, key, attributes: item, where }, single);
  }

  /**
   * Sets these attributes alone if the condition holds. Owners of different ones keep their tokens under different
   * names, or the one would hide the other's success.
   */
  async updateIf(
    key: ItemKey,
    attributes: StoredItem,
    condition: Condition & { readonly writer?: string },
  ): Promise<WriteResult> {
    const token = this.token();
    const writer = condition.writer ?? WRITER;
    const entries = Object.entries({ ...attributes, [writer]: token });
    const names = Object.fromEntries(entries.map(([name], index) => [`#s${index}`, name]));
    const values = Object.fromEntries(entries.map(([, value], index) => [`:s${index}`, value]));
    const assignments = entries.map((_, index) => `#s${index} = :s${index}`).join(', ');
    return this.compareAndSet({ key, token, writer, mayStand: false }, () =>
      this.client.send(
        new UpdateCommand({
          TableName: this.tableName,
          Key: key,
          UpdateExpression: `SET ${assignments}`,
          ...conditionOf(condition),
          ExpressionAttributeNames: { ...names, ...condition.names },
          ExpressionAttributeValues: { ...values, ...condition.values },
        }),
      ),
    );
  }

  /** One more, from 1. A repeat by the SDK counts twice, which does no harm where it is called. */
  async increment(key: ItemKey, attribute: string): Promise<void> {
    await this.client.send(
      new UpdateCommand({
        TableName: this.tableName,
        Key: key,
        UpdateExpression: 'ADD #counter :one',
        ExpressionAttributeNames: { '#counter': attribute },
        ExpressionAttributeValues: { ':one': 1 },
      }),
    );
  }

  /** Removes an item if the condition holds. A missing item is `written`: it is gone. */
  async removeIf(key: ItemKey, condition: Condition): Promise<WriteResult> {
    const orMissing = `attribute_not_exists(pk) OR (${condition.expression})`;
    try {
      await this.client.send(
        new DeleteCommand({
          TableName: this.tableName,
          Key: key,
          ...conditionOf({ ...condition, expression: orMissing }),
        }),
      );
      return 'written';
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 'lost';
      throw error;
    }
  }

  async remove(key: ItemKey): Promise<void> {
    await this.client.send(new DeleteCommand({ TableName: this.tableName, Key: key }));
  }

  private async compareAndSet(
    write: {
      readonly key: ItemKey;
      readonly token: string;
      readonly writer: string;
      /** True if another request may have written it already. */
      readonly mayStand: boolean;
    },
    send: () => Promise<unknown>,
  ): Promise<WriteResult> {
    const { key, token, writer, mayStand } = write;
    try {
      await send();
      return 'written';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw asItemTooLarge(key, error);
      if (error.$metadata.attempts === 1 && !mayStand) return 'lost';
      // A store that gives no item with the exception is asked for it.
      const { Item: given } = error;
      const stored = given === undefined ? (await this.get(key))?.[writer] : given[writer]?.S;
      return stored === token ? 'written' : 'lost';
    }
  }
}

/** The table's own word for an item beyond 400 KB: it says so only in the text of its answer. */
function asItemTooLarge(key: ItemKey, error: unknown): unknown {
  const isSize =
    error instanceof Error &&
    error.name === 'ValidationException' &&
    /^Item size .*exceeded the maximum allowed size/.test(error.message);
  if (!isSize) return error;
  return new ItemTooLargeError(key, 'the table takes no item so large', { cause: error });
}

function conditionOf({ expression, names, values }: Condition) {
  return {
    ConditionExpression: expression,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    ...defined({ ExpressionAttributeNames: names, ExpressionAttributeValues: values }),
  };
}

export const IF_MISSING: Condition = { expression: 'attribute_not_exists(pk)' };

/** Holds while there is an item of which this is true. */
function ifStanding(standing: Standing): Condition {
  const { attribute, operator, value } = standing;
  const expression = `${attribute} ${operator} :expected`;
  return { expression, values: { ':expected': value }, standing };
}

/** Holds while the stored version is this one; 0 means that there is no version yet. */
export function ifVersion(version: number): Condition {
  if (version === 0) return { expression: 'attribute_not_exists(version)' };
  return ifStanding({ attribute: 'version', operator: '=', value: version });
}

/** The same of what bears a uid: another one of its name, made after this was removed, may be of the same version. */
export function ifSame(former: { readonly uid: string; readonly version: number }): Condition {
  if (former.version === 0) return IF_MISSING;
  return {
    expression: 'version = :version AND #uid = :uid',
    names: { '#uid': 'uid' },
    values: { ':version': former.version, ':uid': former.uid },
  };
}

/** Holds while the stored stamp is exactly this one. */
export function ifStamp(stamp: string): Condition {
  return ifStanding({ attribute: 'stamp', operator: '=', value: stamp });
}

export function ifStampOlder(stamp: string): Condition {
  const older = ifStanding({ attribute: 'stamp', operator: '<', value: stamp });
  return { ...older, expression: `${IF_MISSING.expression} OR ${older.expression}` };
}
