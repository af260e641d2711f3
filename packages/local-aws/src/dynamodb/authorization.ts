// Which rights a table request needs: its action on each table that it names, with the partition keys it touches.
//
// BatchGetItem is asked for each of its tables by itself, a batch of statements for each of these, as the action that AWS
// names it by (PartiQLUpdate); a statement that is not known here names no table, so nobody has the right. Only the operations that Rollcall's roles may name have
// their keys read; another operation is judged by its action alone, and no role of ours grants one.
import type { Authorizer, Decision } from '../iam/authorizer.ts';
import { updateOf } from './statement.ts';
import { statementsOf } from './tables.ts';
import type { Fields as Sent } from './tables.ts';

/** What a request is authorised by. */
export interface TableRequest {
  /** Of whoever signed it; undefined: nobody who has rights here. */
  readonly accessKey: string | undefined;
  /** The operation, as X-Amz-Target names it. */
  readonly name: string;
  /** The body, parsed; empty where it was no JSON: it names no table, so nobody but an administrator gets further. */
  readonly fields: Sent;
  readonly arnOf: (tableName: string) => string;
}

/** A refusal, in the protocol's words. */
export interface TableRefusal {
  readonly type: string;
  readonly message: string;
}

interface Fields {
  readonly TableName?: string;
  readonly Key?: Key;
  readonly Item?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] }>>;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>;
}

type Key = Readonly<Record<string, { readonly S?: string }>>;

/** Name of the partition key: both tables have the same. */
const partitionKey = 'pk';

const STATEMENTS = 'BatchExecuteStatement';

/** The refusal of a request, or undefined when its sender has the right. */
export function refuseTableRequest(
  authorizer: Authorizer,
  request: TableRequest,
): TableRefusal | undefined {
  const { accessKey } = request;
  // Also where no table is touched, of which a right could be missing.
  if (accessKey === undefined) return refusalOf({ kind: 'unknown-key' });
  const action = `dynamodb:${actionOf(request.name)}`;
  for (const { tableName, leadingKeys } of touchedTables(request)) {
    const resourceArn = request.arnOf(tableName);
    const decision = authorizer.decide(accessKey, { action, resourceArn, leadingKeys });
    if (decision.kind !== 'allowed') return refusalOf(decision);
  }
  return undefined;
}

interface TouchedTable {
  readonly tableName: string;
  readonly leadingKeys: () => readonly string[];
}

/** Statements have actions of their own; of these only updates are known here. */
function actionOf(name: string): string {
  return name === STATEMENTS ? 'PartiQLUpdate' : name;
}

function touchedTables({ name, fields: sent }: TableRequest): readonly TouchedTable[] {
  if (name === STATEMENTS) return statementsOf(sent).map(touchedBy);
  const fields: Fields = sent;
  if (name !== 'BatchGetItem') {
    return [{ tableName: fields.TableName ?? '', leadingKeys: () => keysOf(name, fields) }];
  }
  return Object.entries(fields.RequestItems ?? {}).map(([tableName, { Keys: keys = [] }]) => ({
    tableName,
    leadingKeys: () => keys.map(partitionOf),
  }));
}

function touchedBy(statement: Parameters<typeof updateOf>[0]): TouchedTable {
  const update = updateOf(statement);
  return {
    tableName: update?.TableName ?? '',
    leadingKeys: () => {
      const partition = update?.Key.pk['S'];
      return [typeof partition === 'string' ? partition : ''];
    },
  };
}

function keysOf(name: string, fields: Fields): readonly string[] {
  switch (name) {
    case 'GetItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [partitionOf(fields.Key)];
    case 'PutItem':
      return [partitionOf(fields.Item)];
    case 'Query':
      return [queriedPartition(fields)];
    default:
      return [];
  }
}

function partitionOf(key: Key | undefined): string {
  return key?.[partitionKey]?.S ?? '';
}

/** The value that the partition key is compared with; an expression of another form names none. */
function queriedPartition(fields: Fields): string {
  const placeholder = /(?:^|\s|\()pk\s*=\s*(:\w+)/.exec(fields.KeyConditionExpression ?? '')?.[1];
  return fields.ExpressionAttributeValues?.[placeholder ?? '']?.S ?? '';
}

function refusalOf(decision: Exclude<Decision, { kind: 'allowed' }>): TableRefusal {
  return decision.kind === 'denied'
    ? { type: 'com.amazon.coral.service#AccessDeniedException', message: decision.message }
    : {
        type: 'com.amazon.coral.service#UnrecognizedClientException',
        message: 'The security token included in the request is invalid.',
      };
}
