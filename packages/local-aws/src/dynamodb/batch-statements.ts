// BatchExecuteStatement for dynalite, which has none: each statement as an UpdateItem, asked of dynalite itself.
//
// Statements succeed or fail by themselves, in the words of the API reference (BatchStatementError). Only updates of the
// form that statement.ts knows are understood; reads, inserts and deletes are refused as a ValidationError of theirs.
// Two statements about one item are refused as a whole: in which order they would be done is nobody's to assume.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { updateOf } from './statement.ts';
import type { Statement, UpdateInput } from './statement.ts';

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

interface Answer {
  readonly TableName?: string;
  readonly Error?: { readonly Code: string; readonly Message: string };
}

const OPERATION = 'BatchExecuteStatement';
const STATEMENTS_MAX = 25;

/** Teaches a server that has its one listener already, and does not listen yet. */
export function answerStatements(server: Server): void {
  const [emulator, ...others] = server.listeners('request') as RequestListener[];
  if (emulator === undefined || others.length > 0) throw new Error('dynalite has changed');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!String(request.headers['x-amz-target']).endsWith(`.${OPERATION}`)) {
      emulator(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const update = (input: UpdateInput): Promise<Answer> => ask(emulator, request, input);
      void answer(Buffer.concat(chunks).toString('utf8'), update).then(({ status, body }) => {
        const headers = { 'Content-Type': 'application/x-amz-json-1.0' };
        response.writeHead(status, headers).end(JSON.stringify(body));
      });
    });
  });
}

async function answer(
  text: string,
  update: (input: UpdateInput) => Promise<Answer>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const statements = statementsOf(text);
  const updates = statements.map(updateOf);
  const keys = updates.flatMap((one) =>
    one === undefined ? [] : [JSON.stringify([one.TableName, one.Key])],
  );
  const isBounded = statements.length > 0 && statements.length <= STATEMENTS_MAX;
  if (!isBounded || new Set(keys).size < keys.length) {
    const message = isBounded
      ? 'Provided list of item keys contains duplicates'
      : `1 to ${STATEMENTS_MAX} statements are taken`;
    const body = { __type: 'com.amazon.coral.validate#ValidationException', message };
    return { status: 400, body };
  }
  const unknown: Answer = {
    Error: { Code: 'ValidationError', Message: 'a statement that this server does not know' },
  };
  const answers = await Promise.all(
    updates.map((one) => (one === undefined ? Promise.resolve(unknown) : update(one))),
  );
  return { status: 200, body: { Responses: answers } };
}

/** The statements of a request as sent; none where it is no such request. */
export function statementsOf(text: string): readonly Statement[] {
  try {
    const parsed = JSON.parse(text) as { readonly Statements?: unknown } | null;
    return Array.isArray(parsed?.Statements) ? (parsed.Statements as readonly Statement[]) : [];
  } catch {
    return [];
  }
}

/** Asks dynalite as if this had come by the wire, in the name of the same sender. */
function ask(
  emulator: RequestListener,
  { headers }: IncomingMessage,
  input: UpdateInput,
): Promise<Answer> {
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
        resolve(answerOf(input.TableName, response.statusCode, text));
      },
    };
    // What dynalite uses of a request and a response.
    emulator(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    request.emit('data', Buffer.from(JSON.stringify(input)));
    request.emit('end');
  });
}

function answerOf(tableName: string, status: number, text: string): Answer {
  if (status === 200) return { TableName: tableName };
  const { __type: type = '', message = '' } = JSON.parse(text) as {
    readonly __type?: string;
    readonly message?: string;
  };
  const name = type.slice(type.indexOf('#') + 1).replace(/Exception$/, '');
  const code = name === 'Validation' ? 'ValidationError' : name;
  return { Error: { Code: code, Message: message } };
}
