/**
 * Tables of DynamoDB on virtual time, behind the document client that the real adapters hold.
 *
 * What the adapters send is counted in the units that AWS bills, by DynamoDB's rules of sizes; how long a request takes is
 * decided by who opens the client. Knows the commands and conditions of the stores, and refuses every other. Nothing is
 * lost, throttled or repeated here: faults are the simulation's. A write that loses its race is billed as one.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { updateOf } from '@rollcall/local-aws/dynamodb/statement.ts';
import type { WireValue } from '@rollcall/local-aws/dynamodb/statement.ts';
import { holds } from './condition.ts';
import { readUnits, sizeOfItem, writeUnits } from './item-size.ts';
import type { Attributes } from './item-size.ts';

/** What a request is, for who decides how long it takes. */
export type TableRequest = 'get' | 'batch-get' | 'query' | 'write' | 'batch-write';

/** Who opened a client: decides how long requests take, and is told what they cost. */
export interface TableUser {
  /** Takes as long as the request does. */
  readonly before: (request: TableRequest) => Promise<void>;
  readonly onUnits: (of: 'readUnits' | 'writeUnits', count: number) => void;
}

interface Place {
  readonly TableName: string | undefined;
  readonly Key: Attributes | undefined;
}

interface Write extends Place {
  readonly next: Attributes | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
}

type OnBytes = (bytes: number) => void;
type OnRead = (bytes: number, isConsistent: boolean | undefined) => void;

/** Tables with string keys `pk` and `sk`. */
export class VirtualTable {
  readonly #partitions = new Map<string, Map<string, Attributes>>();

  /** A client of its own. */
  client(user: TableUser): DynamoDBDocumentClient {
    const send = async (command: unknown): Promise<unknown> => {
      const { request, apply } = this.#plan(command, user.onUnits);
      await user.before(request);
      return apply();
    };
    // What the adapters use of a client.
    return { send } as unknown as DynamoDBDocumentClient;
  }

  #plan(
    command: unknown,
    onUnits: TableUser['onUnits'],
  ): { readonly request: TableRequest; readonly apply: () => unknown } {
    const onRead: OnRead = (bytes, isConsistent) => {
      onUnits('readUnits', readUnits(bytes, isConsistent === true));
    };
    const onWrite = (bytes: number): void => {
      onUnits('writeUnits', writeUnits(bytes));
    };
    if (command instanceof GetCommand) {
      const { TableName, Key, ConsistentRead } = command.input;
      const get = (): unknown => {
        const item = this.peek({ TableName, Key });
        onRead(sizeOfItem(item), ConsistentRead);
        return { Item: item };
      };
      return { request: 'get', apply: get };
    }
    if (command instanceof BatchGetCommand) {
      return { request: 'batch-get', apply: () => this.#getMany(command.input, onRead) };
    }
    if (command instanceof QueryCommand) {
      return { request: 'query', apply: () => this.#query(command.input, onRead) };
    }
    if (command instanceof BatchExecuteStatementCommand) {
      return { request: 'batch-write', apply: () => this.#writeMany(command.input, onWrite) };
    }
    return { request: 'write', apply: () => this.#write(writeOf(command, this), onWrite) };
  }

  /** What stands there, past all counting. */
  peek({ TableName, Key }: Place): Attributes | undefined {
    return this.#partitions.get(partitionOf(TableName, Key?.['pk']))?.get(String(Key?.['sk']));
  }

  #getMany({ RequestItems = {} }: BatchGetCommand['input'], onRead: OnRead): unknown {
    const answers = Object.entries(RequestItems).map(
      ([TableName, { Keys = [], ConsistentRead }]) => {
        const items = Keys.map((Key) => this.peek({ TableName, Key }));
        for (const item of items) onRead(sizeOfItem(item), ConsistentRead);
        return [TableName, items.filter((item) => item !== undefined)] as const;
      },
    );
    return { Responses: Object.fromEntries(answers) };
  }

  #query(input: QueryCommand['input'], onRead: OnRead): unknown {
    const { TableName, ExpressionAttributeValues, ExclusiveStartKey, Limit = Infinity } = input;
    const after = ExclusiveStartKey?.['sk'] as string | undefined;
    const partition = this.#partitions.get(
      partitionOf(TableName, ExpressionAttributeValues?.[':pk']),
    );
    const keys = [...(partition?.keys() ?? [])]
      .filter((key) => after === undefined || key > after)
      .sort();
    const items = keys.slice(0, Limit).flatMap((key): readonly Attributes[] => {
      const item = partition?.get(key);
      return item === undefined ? [] : [item];
    });
    const bytes = items.reduce((sum, item) => sum + sizeOfItem(item), 0);
    onRead(bytes, input.ConsistentRead);
    const last = keys[Limit - 1];
    const hasMore = last !== undefined && keys.length > Limit;
    return { Items: items, ...(hasMore ? { LastEvaluatedKey: { sk: last } } : {}) };
  }

  #writeMany(
    { Statements = [] }: BatchExecuteStatementCommand['input'],
    onBytes: OnBytes,
  ): unknown {
    const answers = Statements.map(({ Statement = '', Parameters = [] }) => {
      // Values stand where the wire has them with their types.
      const update = updateOf({ Statement, Parameters: Parameters as readonly WireValue[] });
      if (update === undefined) throw new Error(`a statement that is not known: ${Statement}`);
      try {
        const { TableName, Key } = update;
        const next = { ...this.peek({ TableName, Key }), ...assigned(update) };
        this.#write({ ...update, next }, onBytes);
        return { TableName };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { Error: { Code: 'ConditionalCheckFailed', Message: error.message } };
      }
    });
    return { Responses: answers, $metadata: { attempts: 1 } };
  }

  #write(write: Write, onBytes: OnBytes): unknown {
    const { ConditionExpression: expression, next } = write;
    const stored = this.peek(write);
    const names = write.ExpressionAttributeNames;
    const values = write.ExpressionAttributeValues;
    if (expression !== undefined && !holds({ expression, names, values }, stored)) {
      onBytes(sizeOfItem(stored));
      const message = 'The conditional request failed';
      throw new ConditionalCheckFailedException({ message, $metadata: { attempts: 1 } });
    }
    onBytes(Math.max(sizeOfItem(stored), sizeOfItem(next)));
    const id = partitionOf(write.TableName, write.Key?.['pk']);
    const partition = this.#partitions.get(id) ?? new Map<string, Attributes>();
    this.#partitions.set(id, partition);
    const sk = String(write.Key?.['sk']);
    if (next === undefined) partition.delete(sk);
    else partition.set(sk, next);
    return {};
  }
}

function partitionOf(table: string | undefined, pk: unknown): string {
  return `${table ?? ''}\n${String(pk)}`;
}

function writeOf(command: unknown, table: VirtualTable): Write {
  if (command instanceof PutCommand) {
    const { Item: item = {} } = command.input;
    return { ...command.input, TableName: command.input.TableName, Key: item, next: item };
  }
  if (command instanceof DeleteCommand) {
    const { TableName, Key } = command.input;
    return { ...command.input, TableName, Key, next: undefined };
  }
  if (!(command instanceof UpdateCommand)) {
    throw new Error('a command that this table does not know');
  }
  const { TableName, Key } = command.input;
  const stored = table.peek({ TableName, Key });
  const next = { ...stored, ...Key, ...changed(command.input, stored) };
  return { ...command.input, TableName, Key, next };
}

type Update = Pick<
  UpdateCommand['input'],
  'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** `ADD #n :n` and `SET #s0 = :s0, … REMOVE #s1, …`, the only updates that the stores make. */
function changed(input: Update, stored: Attributes | undefined): Attributes {
  const [, name, value] = /^ADD (\S+) (\S+)$/.exec(input.UpdateExpression ?? '') ?? [];
  if (name === undefined || value === undefined) return assigned(input);
  const attribute = input.ExpressionAttributeNames?.[name] ?? name;
  const added = Number(input.ExpressionAttributeValues?.[value]);
  return { [attribute]: Number(stored?.[attribute] ?? 0) + added };
}

/** What is removed is undefined. */
function assigned(input: Update): Attributes {
  const [sets = '', removes = ''] = (input.UpdateExpression ?? '')
    .replace(/^SET /, '')
    .split(' REMOVE ');
  const nameOf = (name: string): string => input.ExpressionAttributeNames?.[name] ?? name;
  const changed: Record<string, unknown> = {};
  for (const name of removes.split(', ')) changed[nameOf(name)] = undefined;
  for (const assignment of sets.split(', ')) {
    const [name, value] = sidesOf(assignment);
    changed[nameOf(name)] = input.ExpressionAttributeValues?.[value];
  }
  return changed;
}

function sidesOf(assignment: string): readonly [string, string] {
  const [, name = '', value = ''] = /^(\S+) = (\S+)$/.exec(assignment) ?? [];
  if (value === '') throw new Error(`an update that this table does not know: ${assignment}`);
  return [name, value];
}
