/**
 * A registry of ten thousand clusters, read out of a table page by page.
 *
 * The items are put as the store writes them. On the local tables, in this process.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { readRegistry } from '../../../src/app/clusters/read-registry.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import { useKeyTables } from '../../support/key-tables.ts';

const CLUSTERS = 10_000;
const WRITTEN = 10;
const BATCH = 25;

function registration(index: number): ClusterRegistration {
  const id = `cluster-${String(index).padStart(5, '0')}`;
  return {
    id: clusterId(id),
    clusterUid: clusterUid(`uid-${index}`),
    mode: index % 2 === 0 ? 'observe' : 'takeover',
    isFrozen: false,
    configVersion: 3,
    senderRoleId: `AROA${index}`,
    server: `https://${id}.example.com`,
    authentication: { kind: 'none' },
    labels: {},
  };
}

function itemsOf(one: ClusterRegistration): readonly Record<string, unknown>[] {
  const { configVersion, ...rest } = one;
  return [
    { pk: 'DIRECTORY#00', sk: one.id },
    { pk: `CLUSTER#${one.id}`, sk: 'CLUSTER', registration: rest, configVersion },
  ];
}

describe('a registry of ten thousand clusters', () => {
  const tables = useKeyTables('full', 'few');
  const all = Array.from({ length: CLUSTERS }, (_, index) => registration(index));
  const store = (tableName: string): RegistryStore =>
    createDynamoRegistryStore(tables.of(tableName));

  before(async () => {
    const items = all.flatMap(itemsOf);
    for (let from = 0; from < items.length; from += BATCH) {
      const full = items.slice(from, from + BATCH).map((Item) => ({ PutRequest: { Item } }));
      await tables.client().send(new BatchWriteCommand({ RequestItems: { full } }));
    }
  });

  it('is read whole, each registration once and as it is stored, page by page', async () => {
    let pages = 0;
    const full = store('full');
    const { registrations, unreadable } = await readRegistry({
      readCluster: (id) => full.readCluster(id),
      listClusters: (page) => {
        pages += 1;
        return full.listClusters(page);
      },
    });
    assert.deepEqual(unreadable, []);
    assert.deepEqual(registrations, all);
    assert.ok(pages >= 50, `${pages} pages`);
  });

  it('names a registration that cannot be read, and gives the others', async () => {
    const [first] = all;
    assert.ok(first !== undefined);
    const few = store('few');
    for (const one of all.slice(0, WRITTEN)) await few.writeCluster(one, 0);
    const { pk, sk } = { pk: `CLUSTER#${first.id}`, sk: 'CLUSTER' };
    const Item = { pk, sk, registration: { mode: 'canary-1' }, configVersion: 1 };
    await tables
      .client()
      .send(new BatchWriteCommand({ RequestItems: { few: [{ PutRequest: { Item } }] } }));
    const { registrations, unreadable } = await readRegistry(few);
    assert.equal(registrations.length, WRITTEN - 1);
    assert.deepEqual(
      unreadable.map(({ id }) => id),
      [first.id],
    );
    assert.ok(!unreadable[0]?.reason.includes('canary-1'));
  });
});
