/** Where fleets are mirrored, over DynamoDB on dynalite in this process (M4). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { DynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoFleetMirrorStore } from '../../../src/adapters/dynamodb/fleet/fleet-mirror-store.ts';
import { FLEET_MIRROR_KEY } from '../../../src/adapters/dynamodb/item-keys.ts';
import type { FleetMirrorStore } from '../../../src/ports/stores/fleet-mirror-store.ts';
import { createKeyTable } from '../../support/create-key-table.ts';
import { testFleetMirrorStore } from '../../support/fleet-mirror-store-suite.ts';

describe('the DynamoDB fleet mirror store on dynalite (M4)', () => {
  let server: DynamoDbServer | undefined;
  let client: DynamoDBDocumentClient | undefined;
  let mirrors: FleetMirrorStore | undefined;
  const store = (): FleetMirrorStore => mirrors ?? assert.fail('set up by the hook');

  before(async () => {
    server = await startDynamoDbServer();
    client = createDocumentClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    await createKeyTable(client, 'registry');
    const random = createSystemRandom();
    mirrors = createDynamoFleetMirrorStore({ client, tableName: 'registry', random });
  });

  after(async () => {
    client?.destroy();
    await server?.stop();
  });

  testFleetMirrorStore(store);

  it('rejects where the item is damaged', async () => {
    await client?.send(
      new UpdateCommand({
        TableName: 'registry',
        Key: FLEET_MIRROR_KEY,
        UpdateExpression: 'SET setBy = :number',
        ExpressionAttributeValues: { ':number': 1 },
      }),
    );
    await assert.rejects(store().readMirror(), { name: 'ItemUnreadableError' });
  });
});
