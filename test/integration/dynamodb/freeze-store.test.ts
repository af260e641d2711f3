/** The freeze of the stack over DynamoDB, on dynalite in this process (M4): the suite of the port, and what nobody can read. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { DynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoFreezeStore } from '../../../src/adapters/dynamodb/registry/freeze-store.ts';
import type { FreezeStore } from '../../../src/ports/stores/freeze-store.ts';
import { createKeyTable } from '../../support/create-key-table.ts';
import { testFreezeStore } from '../../support/freeze-store-suite.ts';

describe('the DynamoDB freeze store on dynalite (M4)', () => {
  let server: DynamoDbServer | undefined;
  let client: DynamoDBDocumentClient | undefined;
  let freezes: FreezeStore | undefined;
  const store = (): FreezeStore => freezes ?? assert.fail('set up by the hook');

  before(async () => {
    server = await startDynamoDbServer();
    client = createDocumentClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    await createKeyTable(client, 'registry');
    const random = createSystemRandom();
    freezes = createDynamoFreezeStore({ client, tableName: 'registry', random });
  });

  after(async () => {
    client?.destroy();
    await server?.stop();
  });

  testFreezeStore(store);

  for (const [title, item] of [
    ['has a field that nobody knows', { version: 7, freeze: { daemonSets: {}, until: 5 } }],
    ['has no version', { freeze: { daemonSets: {} } }],
    ['is empty', { version: 7 }],
    ['names who froze it by a number', { version: 7, freeze: { daemonSets: {}, all: { by: 1 } } }],
  ] as const) {
    it(`rejects an item that ${title}: it counts as frozen (protocol 13)`, async () => {
      await client?.send(
        new PutCommand({
          TableName: 'registry',
          Item: { pk: 'FREEZE#00', sk: 'FREEZE', ...item },
        }),
      );
      await assert.rejects(store().readFreeze(), { code: 'item-unreadable' });
    });
  }
});
