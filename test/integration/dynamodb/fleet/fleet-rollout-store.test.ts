/** Rollouts of fleets over DynamoDB, on the local tables in this process (M4): the suite of the port, and what cannot be read. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFleetRolloutStore } from '../../../../src/adapters/dynamodb/fleet-stores.ts';
import { encodeBody } from '../../../../src/adapters/dynamodb/item-codec.ts';
import type { FleetRolloutStore } from '../../../../src/ports/stores/fleet-rollout-store.ts';
import {
  testFleetRolloutStore,
  wholeClusterRecord,
  wholeFleetRecord,
} from '../../../support/fleet-rollout-store-suite.ts';
import { useKeyTables } from '../../../support/key-tables.ts';

const TableName = 'registry';

describe('the DynamoDB store of rollouts of fleets on the local tables (M4)', () => {
  const tables = useKeyTables(TableName);
  let rollouts: FleetRolloutStore | undefined;
  const store = (): FleetRolloutStore => rollouts ?? assert.fail('set up by the hook');

  before(() => {
    rollouts = createDynamoFleetRolloutStore(tables.of(TableName));
  });

  testFleetRolloutStore(store);

  const put = async (pk: string, sk: string, body: unknown): Promise<void> => {
    const Item = { pk, sk, uid: 'u', version: 1, body: encodeBody({ pk, sk }, body) };
    await tables.client().send(new PutCommand({ TableName, Item }));
  };

  it('refuses a record with a field that it does not know, and lists the others', async () => {
    const { namespace: _n, name: _m, version: _v, ...whole } = wholeFleetRecord('odd');
    await put('FLEET-ROLLOUTS#00', 'odd/newer', { ...whole, orders: { evacuate: { by: 'x' } } });
    const key = { namespace: 'odd', name: 'newer' };
    await assert.rejects(store().readRecord(key), {
      code: 'item-unreadable',
      message: /: is no record of a rollout: orders\.evacuate$/,
    });
    await store().writeRecord({ ...wholeFleetRecord('readable'), namespace: 'odd' });
    const page = await store().listRecords({ cursor: 'odd', limit: 2 });
    assert.deepEqual(page.unreadable, [key]);
    assert.deepEqual(
      page.records.map(({ name }) => name),
      ['readable'],
    );
  });

  it('refuses a record of a cluster that is none, and a page that is none', async () => {
    const fleet = { namespace: 'odd', name: 'grown', uid: 'u', version: 0 };
    const { cluster, version: _v, ...whole } = wholeClusterRecord('one');
    const pk = 'FLEET-ROLLOUT#odd/grown#u';
    await put(pk, 'CLUSTER#one', { ...whole, phase: 'unheard-of' });
    await assert.rejects(store().readClusterRecords(fleet, [cluster]), {
      code: 'item-unreadable',
      message: /: is no record of a rollout: phase$/,
    });
    await put(pk, 'MEMBERS#0-list#0000', [1]);
    const list = { id: '0-list', count: 1 };
    await assert.rejects(store().readMembers(fleet, list, 0), { code: 'item-unreadable' });
  });

  it('leaves nothing behind in the partition of one that is gone', async () => {
    const fleet = wholeFleetRecord('gone');
    await store().writeRecord(fleet);
    await store().writeMembers(fleet, [wholeClusterRecord('one').cluster]);
    await store().writeClusterRecord(fleet, wholeClusterRecord('one'));
    const pk = `FLEET-ROLLOUT#suite/gone#${fleet.uid}`;
    const left = async (): Promise<number | undefined> => {
      const found = await tables.client().send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': pk },
        }),
      );
      return found.Count;
    };
    assert.equal(await left(), 2);
    await store().removeRollout(fleet);
    assert.equal(await left(), 0);
  });
});
