/** Removing a registration may end anywhere: what is left harms nothing, and a repeat finishes it (S6). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GetCommand, PutCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { LoopbackServer } from '@rollcall/local-aws/server/loopback-server.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import { freshName, registrationOf } from '../../support/store-suite.ts';
import { createKeyTable } from '../../support/create-key-table.ts';

const TableName = 'registry';

describe('removing a registration from DynamoDB', () => {
  let server: LoopbackServer;
  let client: DynamoDBDocumentClient;
  let registry: RegistryStore;

  before(async () => {
    server = await startDynamoDbServer();
    client = openClient();
    await createKeyTable(client, TableName);
    registry = createDynamoRegistryStore({ client, tableName: TableName, random });
  });

  after(async () => {
    client.destroy();
    await server.stop();
  });

  const random = createSystemRandom();
  const openClient = (): DynamoDBDocumentClient =>
    createDocumentClient({
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });

  /** A registry whose process dies before its `index`-th write from 0 on. */
  const dyingRegistry = (index: number): RegistryStore => {
    const dying = openClient();
    let writes = 0;
    dying.middlewareStack.add(
      (next, context) => (args) => {
        const isWrite = /^(Put|Update|Delete)Item/.test(String(context['commandName']));
        if (isWrite && writes++ >= index) throw new Error('the process died');
        return next(args);
      },
      { step: 'initialize' },
    );
    return createDynamoRegistryStore({ client: dying, tableName: TableName, random });
  };

  for (const index of [0, 1, 2, 3]) {
    it(`is finished by a repeat when the process died before write ${String(index)}`, async () => {
      const registration = registrationOf(freshName('dying'));
      const { id } = registration;
      await registry.writeCluster(registration, 0);
      await assert.rejects(dyingRegistry(index).removeCluster(id, 1), /the process died/);
      const isStill = index === 0;
      assert.equal((await registry.readCluster(id)) !== undefined, isStill);
      assert.equal(await registry.removeCluster(id, 1), 'removed');
      assert.equal(await registry.removeCluster(id, 1), 'missing');
      const heir = { ...registrationOf(freshName('heir')), clusterUid: registration.clusterUid };
      assert.equal(await registry.writeCluster(heir, 0), 'written', 'the UID is free');
      const { clusters } = await registry.listClusters({ limit: 1000 });
      assert.ok(!clusters.includes(id));
    });

    it(`is finished by registering anew when the process died before write ${String(index)}`, async () => {
      const registration = registrationOf(freshName('renewed'));
      const { id } = registration;
      await registry.writeCluster(registration, 0);
      await assert.rejects(dyingRegistry(index).removeCluster(id, 1), /the process died/);
      const written = await registry.writeCluster(registration, 0);
      assert.equal(written, index === 0 ? 'lost' : 'written');
      assert.deepEqual(await registry.readCluster(id), registration);
      const second = {
        ...registrationOf(freshName('second')),
        clusterUid: registration.clusterUid,
      };
      assert.equal(await registry.writeCluster(second, 0), 'uid-taken', 'S6');
    });
  }

  it('lets nobody else have the UID until the registration is gone (S6)', async () => {
    const registration = registrationOf(freshName('kept'));
    await registry.writeCluster(registration, 0);
    await assert.rejects(dyingRegistry(1).removeCluster(registration.id, 1));
    const heir = { ...registrationOf(freshName('heir')), clusterUid: registration.clusterUid };
    assert.equal(await registry.writeCluster(heir, 0), 'uid-taken');
    const { clusters } = await registry.listClusters({ limit: 1000 });
    assert.ok(clusters.includes(registration.id), 'what was not finished is still listed');
  });

  it('leaves no credential behind from the first write on (S11)', async () => {
    const authentication = { kind: 'bearer', token: 'hunter2' } as const;
    const registration = { ...registrationOf(freshName('secret')), authentication };
    await registry.writeCluster(registration, 0);
    await assert.rejects(dyingRegistry(1).removeCluster(registration.id, 1));
    const Key = { pk: `CLUSTER#${registration.id}`, sk: 'CLUSTER' };
    const { Item } = await client.send(new GetCommand({ TableName, Key }));
    assert.ok(Item !== undefined);
    assert.doesNotMatch(JSON.stringify(Item), /hunter2/);
  });

  it('removes nothing of a newer registration when it wakes up late', async () => {
    const registration = registrationOf(freshName('late'));
    const { id } = registration;
    await registry.writeCluster(registration, 0);
    await assert.rejects(dyingRegistry(1).removeCluster(id, 1));
    const Key = { pk: `CLUSTER#${id}`, sk: 'CLUSTER' };
    const { Item } = await client.send(new GetCommand({ TableName, Key }));
    assert.equal(await registry.writeCluster(registration, 0), 'written');
    // The late remover goes on by the mark that it had written: claim, entry, mark.
    const { Item: current } = await client.send(new GetCommand({ TableName, Key }));
    await client.send(new PutCommand({ TableName, Item: Item ?? {} }));
    await registry.removeCluster(id, 1);
    await client.send(new PutCommand({ TableName, Item: current ?? {} }));
    const { clusters } = await registry.listClusters({ limit: 1000 });
    assert.ok(clusters.includes(id), 'the entry is the newer one');
    const second = { ...registrationOf(freshName('second')), clusterUid: registration.clusterUid };
    assert.equal(await registry.writeCluster(second, 0), 'uid-taken', 'so is the claim');
  });

  it('refuses a mark that it does not know', async () => {
    const id = registrationOf(freshName('unknown')).id;
    const Item = { pk: `CLUSTER#${id}`, sk: 'CLUSTER', removal: { kind: 'newer' } };
    await client.send(new PutCommand({ TableName, Item }));
    await assert.rejects(registry.readCluster(id), { name: 'ItemUnreadableError' });
  });
});
