// Who froze a cluster, beside functions and commands of a release that knows of no such note (issue 18).
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoRegistryStore } from '../../src/adapters/dynamodb/registry/registry-store.ts';
import type { RegistryStore } from '../../src/ports/stores/registry-store.ts';
import { freshName, registrationOf } from '../support/store-suite.ts';
import { useKeyTables } from '../support/key-tables.ts';

const TableName = 'registry';
const FROZEN = { by: 'ann', why: 'bad kernel', atMs: 7 };
/** Of a registration, as the release before knew them: its schema was closed, too. */
const FIELDS_BEFORE =
  'id clusterUid mode isFrozen senderRoleId server caPem egress authentication labels takeoverProbedAtMs sentinel rival';

describe('the note of a freeze', () => {
  const tables = useKeyTables(TableName);
  let registry: RegistryStore;

  before(() => {
    registry = createDynamoRegistryStore(tables.of(TableName));
  });

  const frozenCluster = async (): Promise<ReturnType<typeof registrationOf>> => {
    const registration = { ...registrationOf(freshName('frozen')), isFrozen: true };
    assert.equal(await registry.writeCluster({ ...registration, frozen: FROZEN }, 0), 'written');
    return registration;
  };

  it('is no field of what the release before reads as a registration', async () => {
    const { id } = await frozenCluster();
    const Key = { pk: `CLUSTER#${id}`, sk: 'CLUSTER' };
    const { Item: item } = await tables.client().send(new GetCommand({ TableName, Key }));
    const fields = Object.keys((item as { readonly registration: object }).registration);
    assert.deepEqual(
      fields.filter((field) => !FIELDS_BEFORE.split(' ').includes(field)),
      [],
    );
  });

  it('tells nothing once the release before has written over it', async () => {
    const registration = await frozenCluster();
    const { configVersion: _first, ...rest } = registration;
    // As it writes: these attributes, and no other.
    await tables.client().send(
      new UpdateCommand({
        TableName,
        Key: { pk: `CLUSTER#${registration.id}`, sk: 'CLUSTER' },
        UpdateExpression: 'SET #r = :registration, configVersion = :next',
        ExpressionAttributeNames: { '#r': 'registration' },
        ExpressionAttributeValues: { ':registration': rest, ':next': 2 },
      }),
    );
    // Perhaps it thawed and froze again, for somebody else.
    assert.deepEqual(await registry.readCluster(registration.id), {
      ...registration,
      configVersion: 2,
    });
  });
});
