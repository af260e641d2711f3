// Tables with the string keys pk and sk: requests of DynamoDB in, answers out, one after the other.
//
// It knows what the product, its tests and the AWS CLI's looks ask for; every other operation, field and expression is
// refused by name. No clock, no I/O: `record` takes each change before its answer is given.
import { compareText } from '@rollcall/base/compare-text.ts';
import { Expressions } from './expressions.ts';
import type { Condition, Placeholders } from './expressions.ts';
import { keyIn, keyOf, LocalTable, pageOf, textOf } from './items.ts';
import type { Declared, TableKey } from './items.ts';
import { updateOf } from './statement.ts';
import type { Statement } from './statement.ts';
import { sizeOfItem, TableError, tableErrors } from './values.ts';
import type { WireItem } from './values.ts';

/** One change, as a journal keeps it. */
export type TableFact =
  | { readonly op: 'create'; readonly table: string; readonly declared: Declared }
  | { readonly op: 'drop'; readonly table: string }
  | { readonly op: 'put'; readonly table: string; readonly item: WireItem }
  | { readonly op: 'delete'; readonly table: string; readonly key: WireItem };

/** The body of a request, parsed. */
export type Fields = Readonly<Record<string, unknown>>;

interface Asked extends Placeholders {
  readonly TableName?: string;
  readonly Key?: WireItem;
  readonly Item?: WireItem;
  readonly Keys?: readonly WireItem[];
  readonly Limit?: number;
  readonly ExclusiveStartKey?: WireItem;
  readonly ConditionExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ProjectionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ReturnValues?: string;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

const ITEM_BYTES_MAX = 400 * 1024;
const BATCH_BYTES_MAX = 16 * 1024 * 1024;
const KEYS_MAX = 100;
const WRITES_MAX = 25;
const TEXT_KEYS = 'pk HASH S sk RANGE S';

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues'];
const READ = ['TableName', 'ConsistentRead', 'ProjectionExpression', ...PLACEHOLDERS];
const PAGED = [...READ, 'Limit', 'ExclusiveStartKey'];
const ON_FAILURE = 'ReturnValuesOnConditionCheckFailure';
const WRITE = ['TableName', 'ConditionExpression', ON_FAILURE, ...PLACEHOLDERS];
const MADE = ['TableName', 'KeySchema', 'AttributeDefinitions', 'BillingMode'];

/** What an operation knows, and what it does. */
interface Operation {
  readonly fields: readonly string[];
  readonly run: (tables: Tables, asked: Asked, fields: Fields) => object;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  CreateTable: { fields: MADE, run: (tables, asked, sent) => tables.create(asked, sent) },
  DescribeTable: {
    fields: ['TableName'],
    run: (tables, asked) => ({ Table: tables.describe(asked) }),
  },
  DeleteTable: { fields: ['TableName'], run: (tables, asked) => tables.drop(asked) },
  ListTables: { fields: ['Limit'], run: (tables) => ({ TableNames: tables.names() }) },
  GetItem: { fields: [...READ, 'Key'], run: (tables, asked) => tables.get(asked) },
  BatchGetItem: { fields: ['RequestItems'], run: (tables, _, sent) => tables.getMany(sent) },
  Query: {
    fields: [...PAGED, 'KeyConditionExpression'],
    run: (tables, asked) => tables.query(asked),
  },
  Scan: { fields: PAGED, run: (tables, asked) => tables.scan(asked) },
  PutItem: { fields: [...WRITE, 'Item'], run: (tables, asked) => tables.put(asked) },
  UpdateItem: {
    fields: [...WRITE, 'Key', 'UpdateExpression', 'ReturnValues'],
    run: (tables, asked) => tables.update(asked),
  },
  DeleteItem: { fields: [...WRITE, 'Key'], run: (tables, asked) => tables.delete(asked) },
  BatchWriteItem: { fields: ['RequestItems'], run: (tables, _, sent) => tables.writeMany(sent) },
  BatchExecuteStatement: {
    fields: ['Statements'],
    run: (tables, _, sent) => tables.execute(statementsOf(sent)),
  },
};

/** The tables of one account. */
export class Tables {
  readonly #tables = new Map<string, LocalTable>();
  readonly #record: (fact: TableFact) => void;

  constructor(record: (fact: TableFact) => void = () => undefined) {
    this.#record = record;
  }

  /** Does what is asked. Throws TableError, and then nothing was changed. */
  perform(name: string, fields: Fields): object {
    const operation = OPERATIONS[name];
    if (operation === undefined) throw tableErrors.unknownOperation(name);
    refuseOthers(fields, operation.fields);
    return operation.run(this, fields, fields);
  }

  /** The facts that rebuild every table. */
  *facts(): Iterable<TableFact> {
    for (const { name, declared, partitions } of this.#tables.values()) {
      yield { op: 'create', table: name, declared };
      for (const partition of partitions.values()) {
        for (const item of partition.items()) yield { op: 'put', table: name, item };
      }
    }
  }

  /** Applies what was recorded before a restart. */
  replay(fact: TableFact): void {
    if (fact.op === 'create')
      this.#tables.set(fact.table, new LocalTable(fact.table, fact.declared));
    else if (fact.op === 'drop') this.#tables.delete(fact.table);
    else if (fact.op === 'put') this.#named(fact.table).set(keyOf(fact.item), fact.item);
    else this.#named(fact.table).set(keyOf(fact.key), undefined);
  }

  create({ TableName: table = '' }: Asked, sent: Fields): object {
    if (this.#tables.has(table)) throw tableErrors.inUse(table);
    const { KeySchema, AttributeDefinitions } = sent;
    if (keysOf({ KeySchema, AttributeDefinitions }) !== TEXT_KEYS) {
      throw tableErrors.unknown('other keys than the strings pk and sk');
    }
    this.#do({ op: 'create', table, declared: { KeySchema, AttributeDefinitions } });
    return { TableDescription: this.describe({ TableName: table }) };
  }

  describe({ TableName: table = '' }: Asked): object {
    const { declared } = this.#named(table);
    return { TableName: table, TableStatus: 'ACTIVE', ...declared };
  }

  drop(asked: Asked): object {
    const TableDescription = this.describe(asked);
    this.#do({ op: 'drop', table: asked.TableName ?? '' });
    return { TableDescription };
  }

  names(): readonly string[] {
    return [...this.#tables.keys()].sort(compareText);
  }

  get(asked: Asked): object {
    const item = this.#named(asked.TableName).get(keyIn(asked.Key));
    const show = shownBy(asked);
    return item === undefined ? {} : { Item: show(item) };
  }

  getMany({ RequestItems: sent }: Fields): object {
    const requests = Object.entries((sent ?? {}) as Readonly<Record<string, Asked>>);
    requireCount(requests.flatMap(([, { Keys = [] }]) => Keys).length, KEYS_MAX);
    const Responses: Record<string, readonly WireItem[]> = {};
    const UnprocessedKeys: Record<string, Asked> = {};
    let bytes = 0;
    for (const [TableName, asked] of requests) {
      refuseOthers(asked as Fields, [...READ, 'Keys']);
      const table = this.#named(TableName);
      const { Keys: keys = [] } = asked;
      requireDistinct(keys.map((key) => JSON.stringify(keyIn(key))));
      const show = shownBy(asked);
      const left: WireItem[] = [];
      Responses[TableName] = keys.flatMap((key) => {
        const item = table.get(keyIn(key));
        if (item === undefined) return [];
        bytes += sizeOfItem(item);
        if (bytes <= BATCH_BYTES_MAX) return [show(item)];
        left.push(key);
        return [];
      });
      if (left.length > 0) UnprocessedKeys[TableName] = { ...asked, Keys: left };
    }
    return { Responses, UnprocessedKeys };
  }

  query(asked: Asked): object {
    const expressions = new Expressions(asked);
    const { partition, matches } = expressions.key(asked.KeyConditionExpression ?? '');
    const show = expressions.projection(asked.ProjectionExpression);
    expressions.end();
    const held = this.#named(asked.TableName).partitions.get(textOf(partition));
    const after = asked.ExclusiveStartKey && keyIn(asked.ExclusiveStartKey).sk;
    return pageOf(held?.items(after) ?? [], { ...asked, matches, show });
  }

  scan(asked: Asked): object {
    const { partitions } = this.#named(asked.TableName);
    const show = shownBy(asked);
    const from = asked.ExclusiveStartKey && keyIn(asked.ExclusiveStartKey);
    const names = [...partitions.keys()].sort(compareText);
    const items = names
      .filter((pk) => from === undefined || pk >= from.pk)
      .flatMap((pk) => [
        ...(partitions.get(pk)?.items(pk === from?.pk ? from.sk : undefined) ?? []),
      ]);
    return pageOf(items, { ...asked, matches: () => true, show });
  }

  put(asked: Asked): object {
    const { Item: item = {}, ConditionExpression: text } = asked;
    const expressions = new Expressions(asked);
    const condition = expressions.condition(text);
    expressions.end();
    this.#write(asked, { key: keyOf(item), condition, next: () => item });
    return {};
  }

  delete(asked: Asked): object {
    const expressions = new Expressions(asked);
    const condition = expressions.condition(asked.ConditionExpression);
    expressions.end();
    this.#write(asked, { key: keyIn(asked.Key), condition, next: () => undefined });
    return {};
  }

  update(asked: Asked): object {
    const { Key: given = {}, ReturnValues: wanted = 'NONE' } = asked;
    if (wanted !== 'NONE' && wanted !== 'ALL_NEW')
      throw tableErrors.unknown(`ReturnValues ${wanted}`);
    const expressions = new Expressions(asked);
    const change = expressions.update(asked.UpdateExpression);
    const condition = expressions.condition(asked.ConditionExpression);
    expressions.end();
    const next = (stored: WireItem | undefined): WireItem => change(stored ?? given);
    const item = this.#write(asked, { key: keyIn(given), condition, next });
    return wanted === 'NONE' ? {} : { Attributes: item };
  }

  writeMany({ RequestItems: sent }: Fields): object {
    const writes = Object.entries(
      (sent ?? {}) as Readonly<Record<string, readonly BatchedWrite[]>>,
    ).flatMap(([TableName, requests]) => requests.map((request) => ({ ...request, TableName })));
    requireCount(writes.length, WRITES_MAX);
    for (const { TableName, PutRequest, DeleteRequest } of writes) {
      if (PutRequest !== undefined) this.put({ TableName, Item: PutRequest.Item });
      else if (DeleteRequest !== undefined) this.delete({ TableName, Key: DeleteRequest.Key });
      else throw tableErrors.unknown('such a request of a batch');
    }
    return { UnprocessedItems: {} };
  }

  /** Each statement succeeds or fails by itself, in the words of BatchStatementError. */
  execute(statements: readonly Statement[]): object {
    requireCount(statements.length, WRITES_MAX);
    const updates = statements.map(updateOf);
    requireDistinct(
      updates.flatMap((update) =>
        update === undefined ? [] : [JSON.stringify([update.TableName, update.Key])],
      ),
    );
    const Responses = updates.map((update) => {
      try {
        if (update === undefined) throw tableErrors.unknown('a statement of this form');
        this.update(update);
        return { TableName: update.TableName };
      } catch (error) {
        if (!(error instanceof TableError)) throw error;
        return { Error: { Code: statementCodeOf(error), Message: error.message } };
      }
    });
    return { Responses };
  }

  #named(name = ''): LocalTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw tableErrors.notFound(name);
    return table;
  }

  #write({ TableName: table = '', ...asked }: Asked, { key, condition, next }: Write) {
    const stored = this.#named(table).get(key);
    if (!condition(stored ?? {})) {
      throw tableErrors.conditionFailed(asked[ON_FAILURE] === 'ALL_OLD' ? stored : undefined);
    }
    const item = next(stored);
    if (item === undefined) {
      const gone = { pk: { S: key.pk }, sk: { S: key.sk } };
      if (stored !== undefined) this.#do({ op: 'delete', table, key: gone });
      return undefined;
    }
    if (sizeOfItem(item) > ITEM_BYTES_MAX) {
      const what = asked.Item === undefined ? 'Item size to update' : 'Item size';
      throw tableErrors.validation(`${what} has exceeded the maximum allowed size`);
    }
    this.#do({ op: 'put', table, item });
    return item;
  }

  #do(fact: TableFact): void {
    this.#record(fact);
    this.replay(fact);
  }
}

interface Write {
  readonly key: TableKey;
  readonly condition: Condition;
  /** Undefined: the item goes. */
  readonly next: (stored: WireItem | undefined) => WireItem | undefined;
}

interface BatchedWrite {
  readonly PutRequest?: { readonly Item: WireItem };
  readonly DeleteRequest?: { readonly Key: WireItem };
}

function shownBy(asked: Asked): (item: WireItem) => WireItem {
  const expressions = new Expressions(asked);
  const show = expressions.projection(asked.ProjectionExpression);
  expressions.end();
  return show;
}

/** Of a declaration: each key, its part and its type. */
function keysOf({ KeySchema: keys, AttributeDefinitions: types }: Declared): string {
  if (!Array.isArray(keys) || !Array.isArray(types) || keys.length !== types.length) return '';
  return (keys as readonly Readonly<Record<string, string>>[])
    .map(({ AttributeName: name, KeyType: part }) => {
      const isOfName = (each: Readonly<Record<string, string>>) => each['AttributeName'] === name;
      return `${name} ${part} ${(types as Record<string, string>[]).find(isOfName)?.['AttributeType']}`;
    })
    .join(' ');
}

/** The statements of a request; none where it has none. */
export function statementsOf({ Statements: statements }: Fields): readonly Statement[] {
  return Array.isArray(statements) ? (statements as readonly Statement[]) : [];
}

function statementCodeOf({ type }: TableError): string {
  const name = type.slice(type.indexOf('#') + 1).replace(/Exception$/, '');
  return name === 'Validation' ? 'ValidationError' : name;
}

function refuseOthers(fields: Fields, known: readonly string[]): void {
  const other = Object.keys(fields).find((name) => !known.includes(name));
  if (other !== undefined) throw tableErrors.unknown(`the parameter ${other} here`);
}

function requireCount(count: number, countMax: number): void {
  if (count > 0 && count <= countMax) return;
  throw tableErrors.validation(`1 to ${countMax} members are taken, not ${count}`);
}

function requireDistinct(keys: readonly string[]): void {
  if (new Set(keys).size === keys.length) return;
  throw tableErrors.validation('Provided list of item keys contains duplicates');
}
