/** Where fleets are mirrored, over DynamoDB on the local tables in this process (M4). */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFleetMirrorStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { MIRROR } from '../../../src/adapters/dynamodb/records.ts';
import type { FleetMirrorStore } from '../../../src/ports/stores/freeze-store.ts';
import { testFleetMirrorStore } from '../../support/fleet-mirror-store-suite.ts';
import { useKeyTables } from '../../support/key-tables.ts';

describe('the DynamoDB fleet mirror store on the local tables (M4)', () => {
  const tables = useKeyTables('registry');
  let mirrors: FleetMirrorStore | undefined;
  const store = (): FleetMirrorStore => mirrors ?? assert.fail('set up by the hook');

  before(() => {
    mirrors = createDynamoFleetMirrorStore(tables.of('registry'));
  });

  testFleetMirrorStore(store);

  it('rejects where the item is damaged', async () => {
    await tables.client().send(
      new UpdateCommand({
        TableName: 'registry',
        Key: MIRROR.keyOf(),
        UpdateExpression: 'SET setBy = :number',
        ExpressionAttributeValues: { ':number': 1 },
      }),
    );
    await assert.rejects(store().readMirror(), { name: 'ItemUnreadableError' });
  });
});
