/** The model's table answers the adapters as DynamoDB does (M4), and bills them by its rules. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchGetCommand, DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createDynamoRegistryStore } from '../../../../src/adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../../../../src/adapters/dynamodb/view-store.ts';
import { clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import { VirtualTable } from '../../../support/model/virtual-table.ts';
import { testRegistryStore, testViewStore } from '../../../support/store-suite.ts';
import { testSliceStore } from '../../../support/slice-store-suite.ts';

function opened() {
  const billed = { readUnits: 0, writeUnits: 0, logWriteUnits: 0 };
  const client = new VirtualTable('t', 'view', 'registry').client({
    before: () => Promise.resolve(),
    onUnits: (of, count) => {
      billed[of] += count;
    },
  });
  return { client, billed };
}

const random = createSystemRandom();
const Key = { pk: 'p', sk: 's' };
const at = { TableName: 't' };

describe('the stores on the virtual table (M4)', () => {
  const { client } = opened();
  const view = createDynamoViewStore({ client, tableName: 'view', random });
  const registry = createDynamoRegistryStore({ client, tableName: 'registry', random });
  testViewStore(() => view);
  testSliceStore(() => view);
  testRegistryStore(() => registry);
});

describe('what the virtual table bills', () => {
  it('a write by each KiB of the larger of what stood there and what stands there now', async () => {
    const { client, billed } = opened();
    await client.send(new PutCommand({ ...at, Item: { ...Key, body: 'x'.repeat(2000) } }));
    assert.equal(billed.writeUnits, 2);
    await client.send(new PutCommand({ ...at, Item: Key }));
    assert.equal(billed.writeUnits, 4);
    await client.send(new DeleteCommand({ ...at, Key }));
    assert.equal(billed.writeUnits, 5);
  });

  it('a write whose condition fails as one of what stands there', async () => {
    const { client, billed } = opened();
    const Item = { ...Key, body: new Uint8Array(3000) };
    await client.send(new PutCommand({ ...at, Item }));
    const again = new PutCommand({
      ...{ ...at, Item: Key },
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    await assert.rejects(client.send(again), { name: 'ConditionalCheckFailedException' });
    assert.equal(billed.writeUnits, 3 + 3);
  });

  it('of what happened an item of the log whole, and of a state what its entries add', async () => {
    const { client, billed } = opened();
    const view = createDynamoViewStore({ client, tableName: 'view', random });
    const cluster = clusterUid('c');
    const names = Array.from(
      { length: 400 },
      (_, index) => `${String(index)}-${random.uniqueId()}`,
    );
    const parts = [{ came: 'done', count: 400, names }] as const;
    const entries = [{ kind: 'effect', effect: 'create', atMs: 1, run: 1, parts }] as const;
    const ref = { clusterUid: cluster, uid: uid('u') };
    await view.writeState(ref, emptyState(0));
    assert.equal(billed.logWriteUnits, 0);
    await view.writeState(ref, { ...emptyState(0), version: 1, log: { entries } });
    assert.equal(billed.logWriteUnits, billed.writeUnits - 2);
    const before = { ...billed };
    const subject = { kind: 'cluster' } as const;
    await view.putLogItem(cluster, { subject, entries, atMs: 1, token: 't' });
    const { writeUnits, logWriteUnits } = billed;
    assert.equal(logWriteUnits - before.logWriteUnits, writeUnits - before.writeUnits);
    assert.ok(before.logWriteUnits > 5);
  });

  it('a read by each 4 KiB, one for an item that is missing, each item of a batch by itself', async () => {
    const { client, billed } = opened();
    await client.send(new PutCommand({ ...at, Item: { ...Key, body: 'x'.repeat(5000) } }));
    await client.send(new GetCommand({ ...at, Key, ConsistentRead: true }));
    assert.equal(billed.readUnits, 2);
    const asked = { Keys: [Key, { pk: 'p', sk: 'none' }], ConsistentRead: true };
    await client.send(new BatchGetCommand({ RequestItems: { t: asked } }));
    assert.equal(billed.readUnits, 2 + 3);
    await client.send(new GetCommand({ ...at, Key }));
    assert.equal(billed.readUnits, 2 + 3 + 1, 'half of it where it may lag');
  });
});
