// BatchExecuteStatement for dynalite, which has none: each statement as a change of one item (short-way.ts), or as an
// UpdateItem, asked of dynalite itself.
//
// Statements succeed or fail by themselves, in the words of the API reference (BatchStatementError). Only updates of the
// form that statement.ts knows are understood; reads, inserts and deletes are refused as a ValidationError of theirs.
// Two statements about one item are refused as a whole: in which order they would be done is nobody's to assume.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { changeOf, updateOf } from './statement.ts';
import type { ItemChange, Statement, UpdateInput } from './statement.ts';

interface Answer {
  readonly TableName?: string;
  readonly Error?: { readonly Code: string; readonly Message: string };
}

/** Who does a statement. */
export interface StatementDoers {
  /** Whether it was done, or its condition failed; undefined: dynalite has to decide. */
  readonly change: (change: ItemChange) => Promise<'done' | 'lost' | undefined>;
  readonly dynalite: (input: UpdateInput) => Promise<DynaliteAnswer>;
}

/** What dynalite answered. */
export interface DynaliteAnswer {
  readonly status: number;
  readonly text: string;
}

const STATEMENTS_MAX = 25;
const LOST: Answer = {
  Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
};
const UNKNOWN: Answer = {
  Error: { Code: 'ValidationError', Message: 'a statement that this server does not know' },
};

/** Does the statements of a request. */
export async function doStatements(
  statements: readonly Statement[],
  doers: StatementDoers,
): Promise<{ readonly status: 200 | 400; readonly text: string }> {
  const changes = statements.map(changeOf);
  const keys = changes.flatMap((one) =>
    one === undefined ? [] : [JSON.stringify([one.tableName, one.key])],
  );
  const isBounded = statements.length > 0 && statements.length <= STATEMENTS_MAX;
  if (!isBounded || new Set(keys).size < keys.length) {
    const message = isBounded
      ? 'Provided list of item keys contains duplicates'
      : `1 to ${STATEMENTS_MAX} statements are taken`;
    const body = { __type: 'com.amazon.coral.validate#ValidationException', message };
    return { status: 400, text: JSON.stringify(body) };
  }
  const answers = await Promise.all(
    statements.map((statement, index) => doOne(statement, changes[index], doers)),
  );
  return { status: 200, text: JSON.stringify({ Responses: answers }) };
}

async function doOne(
  statement: Statement,
  change: ItemChange | undefined,
  doers: StatementDoers,
): Promise<Answer> {
  if (change === undefined) return UNKNOWN;
  const { tableName: TableName } = change;
  const outcome = await doers.change(change);
  if (outcome !== undefined) return outcome === 'done' ? { TableName } : LOST;
  const input = updateOf(statement);
  return input === undefined ? UNKNOWN : answerOf(TableName, await doers.dynalite(input));
}

/** The statements of a request; none where it has none. */
export function statementsOf(fields: object): readonly Statement[] {
  const { Statements: statements } = fields as { readonly Statements?: unknown };
  return Array.isArray(statements) ? (statements as readonly Statement[]) : [];
}

/** Asks dynalite as if this had come by the wire, in the name of the same sender. */
export function askDynalite(
  emulator: RequestListener,
  { headers }: IncomingMessage,
  input: UpdateInput,
): Promise<DynaliteAnswer> {
  return new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), {
      headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.UpdateItem' },
      method: 'POST',
      url: '/',
    });
    const response = {
      statusCode: 200,
      setHeader: () => undefined,
      end: (text: string) => {
        resolve({ status: response.statusCode, text });
      },
    };
    // What dynalite uses of a request and a response.
    emulator(request as unknown as IncomingMessage, response as unknown as ServerResponse<never>);
    request.emit('data', Buffer.from(JSON.stringify(input)));
    request.emit('end');
  });
}

function answerOf(tableName: string, { status, text }: DynaliteAnswer): Answer {
  if (status === 200) return { TableName: tableName };
  const { __type: type = '', message = '' } = JSON.parse(text) as {
    readonly __type?: string;
    readonly message?: string;
  };
  const name = type.slice(type.indexOf('#') + 1).replace(/Exception$/, '');
  const code = name === 'Validation' ? 'ValidationError' : name;
  return { Error: { Code: code, Message: message } };
}
