/**
 * `npm run bench -- table-requests`: CPU of one request to a table, by kind: the client's, which functions on AWS have as
 * well, and the local table's, which is part of the engine.
 *
 * The table has a process of its own; requests go one after the other, warm. CPU is user plus system time. Bounded: requests are
 * counted. It compares nothing and has no goal.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import { readCpuSeconds } from '../conformance/control-plane/process-usage.ts';
import { createKeyTable } from '../support/create-key-table.ts';
import { renderRows } from './support/statistics.ts';

const REQUESTS_COUNT = Number(process.env['BENCH_REQUESTS'] ?? 2000);
const WARM_COUNT = 500;
const SLICES_COUNT = 16;
const STATEMENTS_COUNT = 10;
const BODY_BYTES = 3000;
const TableName = 'view';
const STATEMENT = `UPDATE "${TableName}" SET "stamp"=? SET "body"=? SET "writer"=? REMOVE "gone" WHERE "pk"=? AND "sk"=? AND "stamp"=?`;

const table = fork(new URL('./support/table-child.ts', import.meta.url).pathname, [], {
  execArgv: [],
});
const [endpoint] = (await once(table, 'message')) as [string];
const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
const client = createDocumentClient({ region: 'us-east-1', endpoint, credentials });

const body = new Uint8Array(BODY_BYTES).fill(7);
const keys = Array.from({ length: SLICES_COUNT }, (_, index) => ({ pk: 'p', sk: String(index) }));
const [Key = { pk: 'p', sk: '0' }] = keys;

const KINDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'read of one item': () => client.send(new GetCommand({ TableName, Key, ConsistentRead: true })),
  'read of 16 slices of 3 KB': () =>
    client.send(
      new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys, ConsistentRead: true } } }),
    ),
  'update of an item on a condition': () =>
    client.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #s0 = :s0, #s1 = :s1',
        ConditionExpression: 'stamp = :expected',
        ExpressionAttributeNames: { '#s0': 'body', '#s1': 'writer' },
        ExpressionAttributeValues: { ':s0': body, ':s1': 'w', ':expected': '1' },
      }),
    ),
  'ten statements of 3 KB in a batch': () =>
    client.send(
      new BatchExecuteStatementCommand({
        Statements: keys.slice(0, STATEMENTS_COUNT).map(({ pk, sk }) => ({
          Statement: STATEMENT,
          Parameters: ['1', body, 'w', pk, sk, '1'],
        })),
      }),
    ),
};

async function repeat(send: () => Promise<unknown>, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await send();
}

/** CPU milliseconds of one request: the client's, and the table's. */
async function measure(send: () => Promise<unknown>): Promise<readonly [number, number]> {
  await repeat(send, WARM_COUNT);
  const pid = table.pid ?? 0;
  const before = [readCpuSeconds(process.pid), readCpuSeconds(pid)] as const;
  await repeat(send, REQUESTS_COUNT);
  const millisecondsSince = (from: number, of: number): number =>
    ((readCpuSeconds(of) - from) * 1000) / REQUESTS_COUNT;
  return [millisecondsSince(before[0], process.pid), millisecondsSince(before[1], pid)];
}

try {
  await createKeyTable(client, TableName);
  for (const each of keys) {
    await client.send(
      new PutCommand({ TableName, Item: { ...each, body, stamp: '1', writer: 'w' } }),
    );
  }
  const rows: string[][] = [];
  for (const [kind, send] of Object.entries(KINDS)) {
    const [clientMs, tableMs] = await measure(send);
    rows.push([kind, clientMs.toFixed(2), tableMs.toFixed(2)]);
  }
  process.stdout.write(
    `${renderRows([['request', 'client, CPU ms', 'table, CPU ms'], ...rows])}\n`,
  );
} finally {
  client.destroy();
  table.disconnect();
}
