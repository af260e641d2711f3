/** Tables of ours on the local tables in this process, for the describe block that asks for them. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { LoopbackServer } from '@rollcall/local-aws/server/loopback-server.ts';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import type { DynamoStoreOptions } from '../../src/adapters/dynamodb/table.ts';
import { createKeyTable } from './create-key-table.ts';

/** The tables, once the block's hooks have made them. */
export interface KeyTables {
  readonly client: () => DynamoDBDocumentClient;
  /** What a store over one of them is made of. */
  readonly of: (tableName: string) => DynamoStoreOptions;
}

/** Makes them before the tests of a block, and takes them away after; call it before the block's own hooks. */
export function useKeyTables(...tableNames: readonly string[]): KeyTables {
  let server: LoopbackServer | undefined;
  let opened: DynamoDBDocumentClient | undefined;
  const client = (): DynamoDBDocumentClient => opened ?? assert.fail('set up by the hook');
  before(async () => {
    server = await startDynamoDbServer();
    opened = createDocumentClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    for (const tableName of tableNames) await createKeyTable(opened, tableName);
  });
  after(async () => {
    opened?.destroy();
    await server?.stop();
  });
  const random = createSystemRandom();
  return { client, of: (tableName) => ({ client: client(), tableName, random }) };
}
