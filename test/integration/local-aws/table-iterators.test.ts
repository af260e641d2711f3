/**
 * The table server closes what a Query opens. An iterator that stays open keeps every version of every item of its
 * moment: the engine grew by five megabytes a minute (seen in a soak), its data directory by three.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { createKeyTable } from '../../support/create-key-table.ts';

const TURNS_MAX = 1000;

interface OpenedIterator {
  next(): Promise<unknown>;
}

/** What opens dynalite's stores. */
interface Stores {
  create: (options: unknown) => {
    readonly db: { values: (range: unknown) => OpenedIterator };
  };
}

const stores = createRequire(import.meta.url)('dynalite/db/index.js') as Stores;
const opened: OpenedIterator[] = [];
const create = stores.create;
stores.create = (options) => {
  const store = create(options);
  const values = store.db.values.bind(store.db);
  store.db.values = (range) => {
    const iterator = values(range);
    opened.push(iterator);
    return iterator;
  };
  return store;
};
// Only now: it keeps what opens stores when it is loaded.
const { startDynamoDbServer } = await import('@rollcall/local-aws/dynamodb/server.ts');

const TABLE = { TableName: 'view' };
const QUERY = {
  ...TABLE,
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': { S: 'cluster' } },
};

async function isClosed(iterator: OpenedIterator): Promise<boolean> {
  try {
    await iterator.next();
    return false;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'LEVEL_ITERATOR_NOT_OPEN');
    return true;
  }
}

/** Closing takes some turns of the event loop after the answer. */
async function isSoonClosed(iterator: OpenedIterator): Promise<boolean> {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (await isClosed(iterator)) return true;
    await new Promise(setImmediate);
  }
  return false;
}

it('leaves no iterator open after a Query that is read to its end, or to its limit', async () => {
  const server = await startDynamoDbServer();
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  try {
    await createKeyTable(client, TABLE.TableName);
    for (const slice of ['1', '2', '3']) {
      const Item = { pk: { S: 'cluster' }, sk: { S: slice } };
      await client.send(new PutItemCommand({ ...TABLE, Item }));
    }
    const whole = await client.send(new QueryCommand(QUERY));
    assert.equal(whole.Items?.length, 3);
    const one = await client.send(new QueryCommand({ ...QUERY, Limit: 1 }));
    assert.equal(one.Items?.length, 1);
    assert.equal(opened.length, 2);
    for (const iterator of opened) assert.ok(await isSoonClosed(iterator), 'it stays open');
  } finally {
    client.destroy();
    await server.stop();
  }
});
