// Which rights a table request needs: its action on each table that it names, with the partition keys it touches.
//
// BatchGetItem is asked for each of its tables by itself, a batch of statements for each of these, as the action that AWS
// names it by (PartiQLUpdate); a statement that is not known here names no table, so no role has the right. Only the operations
// that Rollcall's roles may name have their keys read; another operation is judged by its action alone, and no role of ours
// grants one.
import type { Authorizer } from '../iam/authorizer.ts';
import { updateOf } from './statement.ts';
import { statementsOf } from './tables.ts';
import type { Fields } from './tables.ts';
import { TableError } from './values.ts';

/** What a request is authorised by. */
export interface TableRequest {
  /** Of the signer; undefined: the signer has no rights here. */
  readonly accessKey: string | undefined;
  /** The operation, as X-Amz-Target names it. */
  readonly name: string;
  /** Empty where the body was no JSON: it names no table, so only an administrator gets further. */
  readonly fields: Fields;
  readonly arnOf: (tableName: string) => string;
}

type Key = Readonly<Record<string, { readonly S?: string }>>;

interface Named {
  readonly TableName?: string;
  readonly Key?: Key;
  readonly Item?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] }>>;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Key;
}

interface TouchedTable {
  readonly tableName: string;
  readonly leadingKeys: () => readonly string[];
}

const STATEMENTS = 'BatchExecuteStatement';
const ERRORS = 'com.amazon.coral.service#';

/** Throws the TableError that a missing right is answered with. */
export function authorizeTableRequest(authorizer: Authorizer, request: TableRequest): void {
  const { accessKey, name, arnOf } = request;
  const action = `dynamodb:${name === STATEMENTS ? 'PartiQLUpdate' : name}`;
  // An unknown caller is refused even where the request touches no table.
  const touched = accessKey === undefined ? [NO_TABLE] : touchedTables(request);
  for (const { tableName, leadingKeys } of touched) {
    const resourceArn = arnOf(tableName);
    const decision = authorizer.decide(accessKey, { action, resourceArn, leadingKeys });
    if (decision.kind === 'denied') {
      throw new TableError(`${ERRORS}AccessDeniedException`, decision.message);
    }
    if (decision.kind === 'unknown-key') {
      const message = 'The security token included in the request is invalid.';
      throw new TableError(`${ERRORS}UnrecognizedClientException`, message);
    }
  }
}

const NO_TABLE: TouchedTable = { tableName: '', leadingKeys: () => [] };

function touchedTables({ name, fields }: TableRequest): readonly TouchedTable[] {
  const named: Named = fields;
  if (name === STATEMENTS) {
    return statementsOf(fields).map((statement) => {
      const update = updateOf(statement);
      const key = update?.Key as Key | undefined; // a key that is no text has no leading key that a role names
      return { tableName: update?.TableName ?? '', leadingKeys: () => [partitionOf(key)] };
    });
  }
  if (name === 'BatchGetItem') {
    return Object.entries(named.RequestItems ?? {}).map(([tableName, { Keys: keys = [] }]) => ({
      tableName,
      leadingKeys: () => keys.map(partitionOf),
    }));
  }
  return [{ tableName: named.TableName ?? '', leadingKeys: () => keysOf(name, named) }];
}

function keysOf(name: string, named: Named): readonly string[] {
  switch (name) {
    case 'GetItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [partitionOf(named.Key)];
    case 'PutItem':
      return [partitionOf(named.Item)];
    case 'Query':
      return [queriedPartition(named)];
    default:
      return [];
  }
}

/** All tables here have the same partition key. */
function partitionOf(key: Key | undefined): string {
  return key?.['pk']?.S ?? '';
}

/** The value that the partition key is compared with; an expression of another form names none. */
function queriedPartition({ KeyConditionExpression: text, ...named }: Named): string {
  const placeholder = /(?:^|\s|\()pk\s*=\s*(:\w+)/.exec(text ?? '')?.[1];
  return named.ExpressionAttributeValues?.[placeholder ?? '']?.S ?? '';
}
