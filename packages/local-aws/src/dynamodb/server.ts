// The table server: DynamoDB's protocol over loopback HTTP, around the tables.
//
// Order within a request: rights, tables, journal, answer, all in one turn: what was answered outlives a kill of the process,
// though no power cut. Binds 127.0.0.1 alone.
import type { Authorizer } from '../iam/authorizer.ts';
import { startLoopbackServer } from '../server/loopback-server.ts';
import type { LoopbackServer, WholeRequest } from '../server/loopback-server.ts';
import { JournalFile } from '../server/journal-file.ts';
import { authorizeTableRequest } from './authorization.ts';
import { Tables } from './tables.ts';
import type { Fields, TableFact } from './tables.ts';
import { TableError } from './values.ts';

/** What requests are judged by. */
export interface TableGuard {
  readonly authorizer: Authorizer;
  /** The ARN of a table of this account. */
  readonly arnOf: (tableName: string) => string;
}

/** How the table server is set up. */
export interface DynamoDbServerOptions {
  /** Where tables survive a kill; in memory if absent. */
  readonly dataDirectory?: string | undefined;
  /** Who may do what; everybody everything if absent. */
  readonly guard?: TableGuard | undefined;
  readonly port?: number;
}

const BODY_BYTES_MAX = 32 * 1024 * 1024;
const CONTENT_TYPE = 'application/x-amz-json-1.0';
const SERIALIZATION = 'com.amazon.coral.service#SerializationException';
const FAULT = 'com.amazonaws.dynamodb.v20120810#InternalServerError';

/** Starts it on a loopback port. */
export async function startDynamoDbServer({
  dataDirectory,
  guard,
  port,
}: DynamoDbServerOptions = {}): Promise<LoopbackServer> {
  const journal = dataDirectory === undefined ? undefined : openJournal(dataDirectory);
  const tables = journal?.tables ?? new Tables();
  const server = await startLoopbackServer({
    bodyBytesMax: BODY_BYTES_MAX,
    port,
    answer: (whole) => {
      const { status, text } = answerTo(whole, tables, guard);
      journal?.file.flush();
      const headers = { 'Content-Type': CONTENT_TYPE, 'Content-Length': Buffer.byteLength(text) };
      whole.response.writeHead(status, headers).end(text);
    },
  });
  let stopped: Promise<void> | undefined;
  const stopOnce = async (): Promise<void> => {
    await server.stop();
    journal?.file.close();
  };
  return { endpoint: server.endpoint, stop: () => (stopped ??= stopOnce()) };
}

function openJournal(directory: string) {
  const tables = new Tables((fact) => {
    file.record(fact);
  });
  const file = JournalFile.open<TableFact>({
    directory,
    name: 'tables.ndjson',
    replay: (fact) => {
      tables.replay(fact);
    },
    currentFacts: () => tables.facts(),
  });
  return { tables, file };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function answerTo(
  { request, body }: WholeRequest,
  tables: Tables,
  guard: TableGuard | undefined,
): Answer {
  try {
    const { method, url, headers } = request;
    const target = headers['x-amz-target'];
    const name = typeof target === 'string' ? target.slice(target.indexOf('.') + 1) : '';
    const fields = fieldsOf(body);
    if (guard !== undefined) {
      const accessKey = guard.authorizer.signerOf({ method, url, headers, body });
      const { authorizer, arnOf } = guard;
      authorizeTableRequest(authorizer, { accessKey, name, fields: fields ?? {}, arnOf });
    }
    if (fields === undefined) throw new TableError(SERIALIZATION, 'The request is no JSON object.');
    return { status: 200, text: JSON.stringify(tables.perform(name, fields)) };
  } catch (error) {
    if (error instanceof TableError) {
      const { type, message, item } = error;
      return { status: 400, text: JSON.stringify({ __type: type, message, Item: item }) };
    }
    const message = error instanceof Error ? error.stack : String(error);
    return { status: 500, text: JSON.stringify({ __type: FAULT, message }) };
  }
}

function fieldsOf(body: Buffer): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined;
  } catch {
    // A body that is not JSON names no table, so only an administrator is told so.
    return undefined;
  }
}
