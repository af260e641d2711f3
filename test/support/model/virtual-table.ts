/**
 * The tables of packages/local-aws on virtual time, behind the document client that the real adapters hold.
 *
 * What the adapters send is counted in the units that AWS bills, by DynamoDB's rules of sizes; how long a request takes is
 * decided by who opens the client. Nothing is lost, throttled or repeated here: faults are the simulation's. A write that
 * loses its race is billed as one.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { updateOf } from '@rollcall/local-aws/dynamodb/statement.ts';
import { statementsOf, type Tables, type Fields } from '@rollcall/local-aws/dynamodb/tables.ts';
import { sizeOfItem, type WireItem } from '@rollcall/local-aws/dynamodb/values.ts';
import { createTablesInProcess } from '../create-key-table.ts';
import { documentClientOf } from '../document-client.ts';
import { decodeBody, encodeBody, keyIn } from '../../../src/adapters/dynamodb/item-codec.ts';

/** What a request is, for who decides how long it takes. */
export type TableRequest = 'get' | 'batch-get' | 'query' | 'write' | 'batch-write';

/** Who opened a client: decides how long requests take, and is told what they cost. */
export interface TableUser {
  /** Takes as long as the request does. */
  readonly before: (request: TableRequest) => Promise<void>;
  /** `logWriteUnits`: those of the `writeUnits` that would not be there without the log. */
  readonly onUnits: (of: 'readUnits' | 'writeUnits' | 'logWriteUnits', count: number) => void;
}

interface Place {
  readonly TableName?: string | undefined;
  readonly Key?: WireItem | undefined;
}

interface Sent extends Place {
  readonly Item?: WireItem;
  readonly ConsistentRead?: boolean;
  readonly RequestItems?: Readonly<
    Record<string, { readonly Keys: readonly WireItem[]; readonly ConsistentRead?: boolean }>
  >;
}

const READ_BYTES = 4096;
const WRITE_BYTES = 1024;
const KINDS: Readonly<Record<string, TableRequest>> = {
  GetItem: 'get',
  BatchGetItem: 'batch-get',
  Query: 'query',
  BatchExecuteStatement: 'batch-write',
};
/** Tables of these names. */
export class VirtualTable {
  readonly #tables: Tables;

  constructor(...names: readonly string[]) {
    this.#tables = createTablesInProcess(...names);
  }

  /** A client of its own. */
  client(user: TableUser): DynamoDBDocumentClient {
    return documentClientOf(async (name, fields) => {
      await user.before(KINDS[name] ?? 'write');
      return this.#answer(name, fields, user.onUnits);
    });
  }

  #answer(name: string, fields: Fields, onUnits: TableUser['onUnits']): object {
    const sent: Sent = fields;
    const onRead = (items: readonly (WireItem | undefined)[], isConsistent = false): void => {
      const bytes = items.reduce((sum, item) => sum + sizeOfItem(item ?? {}), 0);
      const units = Math.max(1, Math.ceil(bytes / READ_BYTES));
      onUnits('readUnits', isConsistent ? units : units / 2);
    };
    if (name === 'GetItem') onRead([this.#peek(sent)], sent.ConsistentRead);
    else if (name === 'BatchGetItem') {
      for (const [TableName, { Keys, ConsistentRead }] of Object.entries(sent.RequestItems ?? {})) {
        for (const Key of Keys) onRead([this.#peek({ TableName, Key })], ConsistentRead);
      }
    } else if (name === 'Query') {
      onRead(this.#whole(fields), sent.ConsistentRead);
    } else return this.#write(name, fields, onUnits);
    return this.#tables.perform(name, fields);
  }

  /** Each item by the larger of what stood there and what stands there now, whether or not it succeeds. */
  #write(name: string, fields: Fields, onUnits: TableUser['onUnits']): object {
    const { Item, ...place }: Sent = fields;
    const places: readonly Place[] =
      name === 'BatchExecuteStatement'
        ? statementsOf(fields).map((statement) => updateOf(statement) ?? {})
        : [Item === undefined ? place : { ...place, Key: keyOf(Item) }];
    const items = (): readonly WireItem[] => places.map((each) => this.#peek(each) ?? {});
    const before = items();
    try {
      return this.#tables.perform(name, fields);
    } finally {
      for (const [index, item] of items().entries()) {
        const sizes = [item, before[index] ?? {}].map(sizesOf);
        const units = unitsOf(sizes, 'whole');
        onUnits('writeUnits', units);
        onUnits('logWriteUnits', units - unitsOf(sizes, 'besideLog'));
      }
    }
  }

  /** What a query reads, whatever of it is shown. */
  #whole({ ProjectionExpression: _shown, ExpressionAttributeNames: _names, ...fields }: Fields) {
    const { Items } = this.#tables.perform('Query', fields) as { readonly Items: WireItem[] };
    return Items;
  }

  #peek({ TableName, Key }: Place): WireItem | undefined {
    const { Item } = this.#tables.perform('GetItem', { TableName, Key }) as { Item?: WireItem };
    return Item;
  }
}

interface Sizes {
  readonly whole: number;
  readonly besideLog: number;
}

function sizesOf(item: WireItem): Sizes {
  const whole = sizeOfItem(item);
  return { whole, besideLog: whole - logBytesOf(item) };
}

function unitsOf(sizes: readonly Sizes[], which: keyof Sizes): number {
  const bytes = Math.max(...sizes.map((each) => each[which]));
  // One that removes what was not there is one, too; an item of the log has nothing beside it.
  return which === 'besideLog' && bytes === 0 && sizes.some(({ whole }) => whole > 0)
    ? 0
    : Math.max(1, Math.ceil(bytes / WRITE_BYTES));
}

function keyOf({ pk, sk }: WireItem): WireItem {
  return { ...(pk && { pk }), ...(sk && { sk }) };
}

/** Bytes of an item of a table, as DynamoDB counts them. */
function logBytesOf(item: WireItem): number {
  const { pk, sk, body } = item as Readonly<Record<string, { S?: string; B?: string } | undefined>>;
  if (pk?.S?.startsWith('LOG#') === true) return sizeOfItem(item);
  if (sk?.S !== 'STATE' || body?.B === undefined) return 0;
  const stored = Buffer.from(body.B, 'base64');
  const key = keyIn({ pk: pk?.S, sk: sk.S });
  const { log, ...rest } = decodeBody(key, stored) as { readonly log?: unknown };
  return log === undefined ? 0 : stored.byteLength - encodeBody(key, rest).byteLength;
}
