/** Reads side by side travel together, each strongly consistent; none is answered for another. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchGetCommand, GetCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchedReader } from '../../../../src/adapters/dynamodb/batches.ts';

type Answer = (command: unknown) => unknown;

/** A client whose answers a test gives; keeps what was sent. */
function scriptedClient(answer: Answer): {
  readonly client: DynamoDBDocumentClient;
  readonly sent: unknown[];
} {
  const sent: unknown[] = [];
  const client = {
    send: (command: unknown) => {
      sent.push(command);
      return Promise.resolve().then(() => answer(command));
    },
  };
  return { client: client as unknown as DynamoDBDocumentClient, sent }; // only `send` is used
}

/** Every key has an item that repeats it, in reverse order, as a table may answer. */
function mirror(command: unknown): unknown {
  if (command instanceof GetCommand) return { Item: command.input.Key };
  assert.ok(command instanceof BatchGetCommand);
  const responses = Object.entries(command.input.RequestItems ?? {}).map(([table, { Keys }]) => [
    table,
    (Keys ?? []).toReversed(),
  ]);
  return { Responses: Object.fromEntries(responses) as unknown };
}

function keysAsked(command: unknown): number {
  assert.ok(command instanceof BatchGetCommand);
  const items = command.input.RequestItems ?? {};
  return Object.values(items).reduce((sum, { Keys }) => sum + (Keys?.length ?? 0), 0);
}

/** Of every table that a batch asks: the flag stands in the request itself. */
function assertConsistent(command: unknown): void {
  assert.ok(command instanceof BatchGetCommand);
  const asked = Object.values(command.input.RequestItems ?? {});
  assert.ok(asked.length > 0);
  for (const { ConsistentRead } of asked) assert.equal(ConsistentRead, true);
}

const key = (name: string) => ({ pk: name, sk: 'S' });

describe('reads of single items', () => {
  it('travel together over both tables, and each gets its own item', async () => {
    const { client, sent } = scriptedClient(mirror);
    const reader = new BatchedReader(client);
    const items = await Promise.all([
      reader.get('one', key('a')),
      reader.get('two', key('a')),
      reader.get('one', key('b')),
      reader.get('one', key('a')),
    ]);
    assert.deepEqual(items, [key('a'), key('a'), key('b'), key('a')]);
    assert.equal(sent.length, 1);
    assert.equal(keysAsked(sent[0]), 3, 'the same key is asked for once');
  });

  it('are strongly consistent, alone and together', async () => {
    const { client, sent } = scriptedClient(mirror);
    const reader = new BatchedReader(client);
    await reader.get('one', key('a'));
    await Promise.all([reader.get('one', key('a')), reader.get('two', key('b'))]);
    const [single, batch] = sent;
    assert.ok(single instanceof GetCommand && single.input.ConsistentRead === true);
    assertConsistent(batch);
  });

  it('answer undefined for what is not there', async () => {
    const { client } = scriptedClient(() => ({ Responses: {} }));
    const reader = new BatchedReader(client);
    const items = await Promise.all([reader.get('one', key('a')), reader.get('one', key('b'))]);
    assert.deepEqual(items, [undefined, undefined]);
  });

  it('ask again for keys that a throttled table left over, as consistently (row 32)', async () => {
    let isFirst = true;
    const { client, sent } = scriptedClient((command) => {
      if (!isFirst) return mirror(command);
      isFirst = false;
      return { Responses: { one: [key('b')] }, UnprocessedKeys: { one: { Keys: [key('a')] } } };
    });
    const reader = new BatchedReader(client);
    const items = await Promise.all([reader.get('one', key('a')), reader.get('one', key('b'))]);
    assert.deepEqual(items, [key('a'), key('b')]);
    assert.equal(keysAsked(sent[1]), 1);
    assertConsistent(sent[1]);
  });

  it('all reject when their request fails, and the next ones are asked anew (row 32)', async () => {
    let isBroken = true;
    const { client } = scriptedClient((command) => {
      if (isBroken) throw new Error('throttled');
      return mirror(command);
    });
    const reader = new BatchedReader(client);
    const reads = [reader.get('one', key('a')), reader.get('one', key('b'))];
    const settled = await Promise.allSettled(reads);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isBroken = false;
    assert.deepEqual(await reader.get('one', key('a')), key('a'));
  });

  it('are split into batches of a hundred', async () => {
    const { client, sent } = scriptedClient(mirror);
    const reader = new BatchedReader(client);
    const names = Array.from({ length: 250 }, (_, index) => `k${String(index)}`);
    await Promise.all(names.map((name) => reader.get('one', key(name))));
    assert.deepEqual(sent.map(keysAsked), [100, 100, 50]);
  });

  it('of a key that a full batch asks for travel with it', async () => {
    const { client, sent } = scriptedClient(mirror);
    const reader = new BatchedReader(client);
    const names = Array.from({ length: 150 }, (_, index) => `k${String(index)}`);
    const items = await Promise.all([...names, 'k0'].map((name) => reader.get('one', key(name))));
    assert.deepEqual(items.at(-1), key('k0'));
    assert.deepEqual(sent.map(keysAsked), [100, 50]);
  });
});
