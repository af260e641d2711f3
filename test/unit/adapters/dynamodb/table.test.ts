/** Compare-and-set over a client that repeats: own success is recognised (spec faults 32, 33). */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ItemUnreadableError } from '../../../../src/adapters/dynamodb/item-codec.ts';
import type { ItemKey, RecordKind } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { Table, ifStamp, ifVersion } from '../../../../src/adapters/dynamodb/table.ts';
import type { DynamoStoreOptions } from '../../../../src/adapters/dynamodb/table.ts';
import { createDynamoViewStore } from '../../../../src/adapters/dynamodb/view-store.ts';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

interface Call {
  readonly operation: string;
  readonly input: Record<string, unknown>;
}
type Answer = { readonly status: number; readonly body: unknown } | Error;

const OK: Answer = { status: 200, body: {} };
const LOST_CONNECTION = Object.assign(new Error('socket hang up'), {
  name: 'TimeoutError',
  code: 'ECONNRESET',
});

function conditionFailed(item?: Record<string, unknown>): Answer {
  const __type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
  return { status: 400, body: { __type, ...(item === undefined ? {} : { Item: item }) } };
}

/** A table whose calls are answered one by one. */
function scripted(answer: (call: Call, index: number) => Answer): {
  table: Table;
  calls: Call[];
  options: DynamoStoreOptions;
} {
  const calls: Call[] = [];
  const handle = (request: {
    readonly headers: Record<string, string>;
    readonly body: Uint8Array;
  }): Promise<{ response: unknown }> => {
    const operation = request.headers['x-amz-target']?.split('.')[1] ?? '';
    const call = {
      operation,
      input: JSON.parse(new TextDecoder().decode(request.body)) as Record<string, unknown>,
    };
    calls.push(call);
    const given = answer(call, calls.length - 1);
    if (given instanceof Error) return Promise.reject(given);
    const response = {
      statusCode: given.status,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Readable.from([Buffer.from(JSON.stringify(given.body))]),
    };
    return Promise.resolve({ response });
  };
  const raw = new DynamoDBClient({
    region: 'us-east-1',
    maxAttempts: 2,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // -- the SDK asks for its own response class by shape only
    requestHandler: { handle } as never,
  });
  const client = DynamoDBDocumentClient.from(raw);
  const options = { client, tableName: 'view', random: seededRandom(1) };
  return { table: new Table(options), calls, options };
}

const KEY = { pk: 'p', sk: 's' };

function writerOf(call: Call | undefined): unknown {
  const item = call?.input['Item'] as Record<string, unknown> | undefined;
  return item?.['writer'];
}

/** What an update sets, by name. */
function setBy(call: Call | undefined): Record<string, unknown> {
  const names = (call?.input['ExpressionAttributeNames'] ?? {}) as Record<string, string>;
  const values = (call?.input['ExpressionAttributeValues'] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(names).map(([placeholder, name]) => [
      name,
      values[placeholder.replace('#', ':')],
    ]),
  );
}

describe('a conditional write whose answer was lost', () => {
  it('is written when the item that comes with the failed condition bears its token', async () => {
    const { table, calls } = scripted((_call, index) =>
      index === 0 ? LOST_CONNECTION : conditionFailed({ writer: writerOf(calls[0]) }),
    );
    assert.equal(await table.putIf(KEY, { stamp: 'b' }, ifStamp('a')), 'written');
    assert.deepEqual(
      calls.map(({ operation }) => operation),
      ['PutItem', 'PutItem'],
    );
    assert.equal(calls[0]?.input['ReturnValuesOnConditionCheckFailure'], 'ALL_OLD');
  });

  it('is written when a consistent read finds its token, where no item comes', async () => {
    const { table, calls } = scripted((call, index) => {
      if (call.operation === 'GetItem') {
        return { status: 200, body: { Item: { writer: writerOf(calls[0]) } } };
      }
      return index === 0 ? LOST_CONNECTION : conditionFailed();
    });
    assert.equal(await table.putIf(KEY, { stamp: 'b' }, ifStamp('a')), 'written');
    assert.equal(calls.at(-1)?.operation, 'GetItem');
    assert.equal(calls.at(-1)?.input['ConsistentRead'], true);
  });

  it('is written, of META, although the breaker beside it was noted before it was repeated', async () => {
    const { table, calls, options } = scripted((_call, index) => {
      if (index === 0) return OK;
      if (index === 1) return LOST_CONNECTION;
      return conditionFailed({ ...setBy(calls[1]), ...setBy(calls[0]) });
    });
    const breaker = { version: 3, failures: 1, openings: 0 };
    await createDynamoViewStore(options).writeBreaker(clusterUid('uid-1'), breaker);
    assert.equal(await table.updateIf(KEY, { version: 8, body: 'b' }, ifVersion(7)), 'written');
    assert.equal(calls.length, 3);
  });

  it('is lost when the item bears the token of somebody else', async () => {
    for (const withItem of [true, false]) {
      const other = { writer: { S: 'somebody else' } };
      const { table } = scripted((call, index) => {
        if (call.operation === 'GetItem') return { status: 200, body: { Item: other } };
        return index === 0 ? LOST_CONNECTION : conditionFailed(withItem ? other : undefined);
      });
      assert.equal(await table.putIf(KEY, { stamp: 'b' }, ifStamp('a')), 'lost');
    }
  });

  it('is lost without another read when it was sent only once', async () => {
    const { table, calls } = scripted(() => conditionFailed());
    assert.equal(await table.updateIf(KEY, { stamp: 'b' }, ifStamp('a')), 'lost');
    assert.equal(calls.length, 1);
  });

  it('gives each write a token of its own', async () => {
    const { table, calls } = scripted(() => OK);
    await table.putIf(KEY, {}, ifStamp('a'));
    await table.putIf(KEY, {}, ifStamp('a'));
    assert.notDeepEqual(writerOf(calls[0]), writerOf(calls[1]));
  });
});

describe('writes of items that are there, side by side', () => {
  const OTHER = { pk: 'p', sk: 'other' };

  /** One that a batch did not answer plainly, and what its single write meets. */
  const inDoubt = (stored: (token: unknown) => unknown): ReturnType<typeof scripted> =>
    scripted(({ operation, input }, index) => {
      if (operation !== 'BatchExecuteStatement') {
        return index === 1 ? conditionFailed({ writer: stored(writerIn(input)) }) : OK;
      }
      return { status: 200, body: { Responses: [{ Error: { Code: 'InternalServerError' } }, {}] } };
    });
  const writerIn = (input: Record<string, unknown>): unknown =>
    (input['Item'] as Record<string, unknown>)['writer'];

  it('is written when a batch before it had written', async () => {
    const { table, calls } = inDoubt((token) => token);
    const results = await Promise.all([
      table.replaceIf(KEY, { stamp: 'b', gone: undefined }, ifStamp('a')),
      table.replaceIf(OTHER, { stamp: 'b', gone: undefined }, ifStamp('a')),
    ]);
    assert.deepEqual(results, ['written', 'written']);
    const [batch, single] = calls;
    const [statement] = batch?.input['Statements'] as { readonly Parameters: unknown[] }[];
    assert.deepEqual(statement, {
      Statement:
        'UPDATE "view" SET "stamp"=? SET "writer"=? REMOVE "gone" WHERE "pk"=? AND "sk"=? AND "stamp"=?',
      Parameters: [{ S: 'b' }, writerOf(single), { S: 'p' }, { S: 's' }, { S: 'a' }],
    });
    assert.deepEqual(Object.keys(single?.input['Item'] as object).toSorted(), [
      ...['pk', 'sk', 'stamp', 'writer'],
    ]);
  });

  it('is lost when somebody else had', async () => {
    const { table } = inDoubt(() => ({ S: 'somebody else' }));
    const results = await Promise.all([
      table.replaceIf(KEY, { stamp: 'b' }, ifStamp('a')),
      table.replaceIf(OTHER, { stamp: 'b' }, ifStamp('a')),
    ]);
    assert.deepEqual(results, ['lost', 'written']);
  });

  it('go by themselves where the condition is about an item that may be missing', async () => {
    const { table, calls } = scripted(() => OK);
    await Promise.all([
      table.replaceIf(KEY, { version: 1 }, ifVersion(0)),
      table.replaceIf(OTHER, { version: 1 }, ifVersion(0)),
    ]);
    assert.deepEqual(
      calls.map(({ operation }) => operation),
      ['PutItem', 'PutItem'],
    );
  });
});

describe('a table that throttles (spec faults 32)', () => {
  const throttled: Answer = {
    status: 400,
    body: { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException' },
  };

  it('is asked again', async () => {
    const { table } = scripted((_call, index) =>
      index === 0 ? throttled : { status: 200, body: { Item: { stamp: { S: 'a' } } } },
    );
    assert.deepEqual(await table.get(KEY), { stamp: 'a' });
  });

  it('beyond the retries rejects: a missing answer is no missing item', async () => {
    const { table } = scripted(() => throttled);
    await assert.rejects(table.get(KEY), { name: 'ProvisionedThroughputExceededException' });
    await assert.rejects(table.putIf(KEY, {}, ifStamp('a')));
  });
});

describe('reads of a table', () => {
  it('are strongly consistent on the wire: of one item, of many, of a page of a partition', async () => {
    const { table, calls } = scripted(() => OK);
    await table.get(KEY);
    await Promise.all([table.get(KEY), table.get({ pk: 'p', sk: 'other' })]).catch(() => undefined);
    await table.query({ pk: 'p' });
    const [single, batch, page] = calls;
    assert.deepEqual([single?.operation, single?.input['ConsistentRead']], ['GetItem', true]);
    assert.equal(batch?.operation, 'BatchGetItem');
    assert.deepEqual(Object.keys(batch.input['RequestItems'] as object), ['view']);
    assert.match(JSON.stringify(batch.input), /"ConsistentRead":true/);
    assert.deepEqual([page?.operation, page?.input['ConsistentRead']], ['Query', true]);
  });

  it('list what a kind can read beside what it refuses; a fault of the kind itself is no unreadable item', async () => {
    const items = ['good', 'bad', 'good'].map((sk) => ({ pk: { S: 'p' }, sk: { S: sk } }));
    const { table } = scripted(() => ({ status: 200, body: { Items: items } }));
    const kindOf = (refuse: (key: ItemKey) => never): RecordKind<never, string, never> => ({
      keyOf: () => KEY,
      read: (_item, key) => (key.sk === 'bad' ? refuse(key) : key.sk),
      attributes: () => ({}),
      written: 'put',
    });
    const listed = (refuse: (key: ItemKey) => never): Promise<unknown> =>
      table.listReadable(kindOf(refuse), { pk: 'p' }, (_error, { sk }) => sk);
    const refused = listed((key) => {
      throw new ItemUnreadableError(key, 'as a test');
    });
    assert.deepEqual(await refused, { records: ['good', 'good'], unreadable: ['bad'] });
    const faulty = listed(() => {
      throw new TypeError('a bug');
    });
    await assert.rejects(faulty, TypeError);
  });
});
