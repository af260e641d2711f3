/** FleetDaemonSets over DynamoDB, on the local tables in this process (M4): the suite of the port, and what a death leaves behind. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFleetStore } from '../../../../src/adapters/dynamodb/fleet-stores.ts';
import type { FleetStore, FleetToWrite } from '../../../../src/ports/stores/fleet-rollout-store.ts';
import { testFleetStore } from '../../../support/fleet-store-suite.ts';
import { useKeyTables } from '../../../support/key-tables.ts';

const FLEET: FleetToWrite = {
  namespace: 'own',
  name: 'agent',
  uid: 'uid-1',
  generation: 1,
  appliedAtMs: 1,
  appliedBy: 'somebody',
  contentHash: 'content',
  history: [],
  document: { text: 'one' },
};

describe('the DynamoDB fleet store on the local tables (M4)', () => {
  const tables = useKeyTables('registry');
  let fleets: FleetStore | undefined;
  const store = (): FleetStore => fleets ?? assert.fail('set up by the hook');

  before(() => {
    fleets = createDynamoFleetStore(tables.of('registry'));
  });

  testFleetStore(store);

  async function documentsOf({ namespace, name }: FleetToWrite): Promise<readonly string[]> {
    const found = await tables.client().send(
      new QueryCommand({
        TableName: 'registry',
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': `FLEET#${namespace}/${name}` },
      }),
    );
    return (found.Items ?? []).map(({ sk }) => String(sk));
  }

  it('keeps one document of each, however often it is applied, and none when it is gone', async () => {
    await store().writeFleet(FLEET, undefined);
    for (let generation = 2; generation < 5; generation += 1) {
      const { head } = (await store().readFleet(FLEET)) ?? assert.fail();
      await store().writeFleet({ ...FLEET, generation }, head);
    }
    assert.equal((await documentsOf(FLEET)).length, 1);
    const { head } = (await store().readFleet(FLEET)) ?? assert.fail();
    assert.equal(await store().writeFleet(FLEET, { ...head, version: 1 }), 'lost');
    assert.equal((await documentsOf(FLEET)).length, 1, 'a writer that lost takes its own away');
    await store().removeFleet(head);
    assert.deepEqual(await documentsOf(FLEET), []);
  });

  it('replaces nothing that was made anew under its name since it was read', async () => {
    const fleet = { ...FLEET, name: 'anew' };
    await store().writeFleet(fleet, undefined);
    const { head } = (await store().readFleet(fleet)) ?? assert.fail();
    await store().removeFleet(head);
    await store().writeFleet({ ...fleet, uid: 'uid-2', document: { text: 'new' } }, undefined);
    // The same version, of another uid.
    assert.equal(await store().writeFleet({ ...fleet, generation: 2 }, head), 'lost');
    assert.equal(await store().removeFleet(head), 'lost');
    assert.deepEqual((await store().readFleet(fleet))?.document, { text: 'new' });
  });

  it('says that a document is missing instead of taking it for none', async () => {
    const fleet = { ...FLEET, name: 'torn' };
    await store().writeFleet(fleet, undefined);
    const [sk = ''] = await documentsOf(fleet);
    const Key = { pk: 'FLEET#own/torn', sk };
    await tables.client().send(new DeleteCommand({ TableName: 'registry', Key }));
    await assert.rejects(store().readFleet(fleet), { code: 'item-unreadable' });
  });

  it('refuses a head that it does not know', async () => {
    const fleet = { ...FLEET, name: 'odd' };
    await store().writeFleet(fleet, undefined);
    await tables.client().send(
      new UpdateCommand({
        TableName: 'registry',
        Key: { pk: 'FLEETS#00', sk: 'own/odd' },
        UpdateExpression: 'SET generation = :none',
        ExpressionAttributeValues: { ':none': 0 },
      }),
    );
    await assert.rejects(store().readFleet(fleet), { code: 'item-unreadable' });
  });
});
