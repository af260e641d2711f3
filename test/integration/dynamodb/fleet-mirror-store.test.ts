/** Where fleets are mirrored, over DynamoDB on the local tables in this process (M4). */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFleetMirrorStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { NO_MIRROR, type FleetMirror } from '../../../src/core/fleet/told/fleet-mirror.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { MIRROR } from '../../../src/adapters/dynamodb/records.ts';
import type { FleetMirrorStore } from '../../../src/ports/stores/freeze-store.ts';
import { useKeyTables } from '../../support/key-tables.ts';

const SET: FleetMirror = {
  version: 0,
  cluster: clusterId('management'),
  setBy: 'ann',
  setAtMs: 1000,
  trouble: { code: 'refused', message: 'no namespace', sinceMs: 2000, fleet: 'ops/agent' },
};

describe('the DynamoDB fleet mirror store on the local tables (M4)', () => {
  const tables = useKeyTables('registry');
  let mirrors: FleetMirrorStore | undefined;
  const store = (): FleetMirrorStore => mirrors ?? assert.fail('set up by the hook');

  before(() => {
    mirrors = createDynamoFleetMirrorStore(tables.of('registry'));
  });

  it('has none, then what was written over the version that was read, then none again', async () => {
    assert.deepEqual(await store().readMirror(), NO_MIRROR);
    assert.equal(await store().writeMirror(SET), 'written');
    assert.deepEqual(await store().readMirror(), { ...SET, version: 1 });
    assert.equal(await store().writeMirror(SET), 'lost');
    const { cluster: _cluster, trouble: _trouble, ...none } = SET;
    assert.equal(await store().writeMirror({ ...none, version: 1 }), 'written');
    assert.deepEqual(await store().readMirror(), { ...none, version: 2 });
  });

  it('lets one of several that write over the same version', async () => {
    const read = await store().readMirror();
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((setBy) => store().writeMirror({ ...read, setBy })),
    );
    assert.equal(outcomes.filter((one) => one === 'written').length, 1);
  });

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
