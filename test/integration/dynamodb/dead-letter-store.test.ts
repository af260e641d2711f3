/** Dead letters over DynamoDB, on dynalite in this process (M4). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoDeadLetterStore } from '../../../src/adapters/dynamodb/dead-letter-store.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry/registry-store.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { DynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { testDeadLetterStore } from '../../support/dead-letter-suite.ts';
import type { DeadLetterBench } from '../../support/dead-letter-suite.ts';
import { createKeyTable } from '../../support/create-key-table.ts';

const TableName = 'registry';
const random = createSystemRandom();

describe('dead letters over DynamoDB (M4)', () => {
  let server: DynamoDbServer | undefined;
  let client: DynamoDBDocumentClient | undefined;
  let bench: DeadLetterBench | undefined;
  const opened = (): DeadLetterBench => {
    assert.ok(bench !== undefined, 'set up by the hook');
    return bench;
  };

  before(async () => {
    server = await startDynamoDbServer();
    client = createDocumentClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    await createKeyTable(client, TableName);
    const options = { client, tableName: TableName, random };
    const registry = createDynamoRegistryStore(options);
    bench = {
      letters: createDynamoDeadLetterStore(options),
      recordDeadLetter: (record) => registry.recordDeadLetter(record),
    };
  });

  after(async () => {
    client?.destroy();
    await server?.stop();
  });

  testDeadLetterStore(opened);

  it('shows a record that it cannot read, and does not leave it out', async () => {
    const sk = '000000000000007#events#m';
    assert.ok(client !== undefined);
    const Item = { pk: 'DEAD-LETTER#newer', sk, body: { format: 2 } };
    await client.send(new PutCommand({ TableName, Item }));
    const { letters } = await opened().letters.list('newer', { limit: 5 });
    assert.deepEqual(
      letters.map(({ code, atMs, place }) => ({ code, atMs, sort: place.sort })),
      [{ code: 'unreadable-record', atMs: 7, sort: sk }],
    );
  });
});
