/**
 * An AWS that is asked by the real clients, over the network, and only notes what for: queues and tables by JSON.
 *
 * It stores nothing: a read finds what a test has put there, a write succeeds, a queue takes everything. A test may refuse
 * calls, with an error that no client repeats. For what is composed of real adapters; where items matter, use packages/local-aws/src.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One call as it came. */
export interface AwsCall {
  /** As in `SendMessageBatch`, `GetItem`. */
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The server and what it was asked. */
export interface RecordingAws {
  readonly endpoint: string;
  readonly calls: readonly AwsCall[];
  /** Has an item be found by its partition, alone or in a page. */
  hold(tableName: string, partition: string, item: Readonly<Record<string, unknown>>): void;
  /** Which calls are refused from now on; none at first. */
  refuseWhen(isRefused: (call: AwsCall) => boolean): void;
  forget(): void;
  close(): void;
}

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
}

type Items = ReadonlyMap<string, unknown>;

/** A value in the wire form of DynamoDB, as far as registrations need it. */
function marshal(value: unknown): unknown {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return { M: Object.fromEntries(entries.map(([name, one]) => [name, marshal(one)])) };
}

function accept(entries: readonly Entry[]): object {
  // The client compares the digest with that of what it sent.
  const Successful = entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: `message-${Id}`,
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));
  return { Successful, Failed: [] };
}

function answerTo({ operation, input }: AwsCall, items: Items): object {
  const found = (table: unknown, key: unknown): unknown =>
    items.get(`${String(table)} ${(key as { pk: { S: string } }).pk.S}`);
  if (operation === 'SendMessageBatch') return accept(input['Entries'] as readonly Entry[]);
  if (operation === 'GetItem') {
    const Item = found(input['TableName'], input['Key']);
    return Item === undefined ? {} : { Item };
  }
  if (operation === 'Query') {
    const { ':pk': pk } = input['ExpressionAttributeValues'] as Record<string, unknown>;
    const item = found(input['TableName'], { pk });
    return { Items: item === undefined ? [] : [item] };
  }
  if (operation !== 'BatchGetItem') return {};
  const asked = input['RequestItems'] as Readonly<Record<string, { Keys: readonly unknown[] }>>;
  const answers = Object.entries(asked).map(([table, { Keys }]) => [
    table,
    Keys.map((key) => found(table, key)).filter((one) => one !== undefined),
  ]);
  return { Responses: Object.fromEntries(answers) as unknown };
}

/** Starts one on a port of its own. */
export async function startRecordingAws(): Promise<RecordingAws> {
  const calls: AwsCall[] = [];
  const items = new Map<string, unknown>();
  let isRefused: (call: AwsCall) => boolean = () => false;
  const server = createServer((request, response) => {
    const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
    void text(request).then((body) => {
      const call = { operation, input: JSON.parse(body || '{}') as AwsCall['input'] };
      calls.push(call);
      const refused = isRefused(call);
      response.writeHead(refused ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' });
      const answer = refused
        ? { __type: 'AccessDeniedException', message: 'no' }
        : answerTo(call, items);
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    calls,
    hold: (tableName, partition, item) => {
      const { M: marshalled } = marshal({ pk: partition, ...item }) as { readonly M: unknown };
      items.set(`${tableName} ${partition}`, marshalled);
    },
    refuseWhen: (next) => {
      isRefused = next;
    },
    forget: () => {
      calls.length = 0;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What serverless.yml tells a function, and what Lambda does, with this AWS as endpoint. */
export function functionEnvironment(endpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL: endpoint,
    ROLLCALL_STAGE: 'of-this-test',
    ROLLCALL_REGISTRY_TABLE: 'the-registry',
    ROLLCALL_VIEW_TABLE: 'the-view',
    ROLLCALL_EVENTS_QUEUE_URL: `${endpoint}/events.fifo`,
    ROLLCALL_RECONCILE_QUEUE_URL: `${endpoint}/reconcile.fifo`,
    ROLLCALL_DELAY_QUEUE_URL: `${endpoint}/delay`,
    ROLLCALL_CREDENTIALS_KEY_ARN: 'arn:aws:kms:eu-west-1:111111111111:key/1',
  };
}
