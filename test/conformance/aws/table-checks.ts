/** What Rollcall relies on in a table: single-item compare-and-set, strong reads, ordered queries, the item limit. */
import assert from 'node:assert/strict';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Check } from './check.ts';
import { statementChecks } from './statement-checks.ts';
import type { TableBench } from './table-bench.ts';

const key = { pk: 'p', sk: 's' };

async function readItem(
  bench: TableBench,
  TableName: string,
): Promise<Record<string, unknown> | undefined> {
  const command = new GetCommand({ TableName, Key: key, ConsistentRead: true });
  return (await bench.client.send(command)).Item;
}

function casCommand(TableName: string, from: number): UpdateCommand {
  return new UpdateCommand({
    TableName,
    Key: key,
    UpdateExpression: 'SET #v = :new',
    ConditionExpression: '#v = :old',
    ExpressionAttributeNames: { '#v': 'version' },
    ExpressionAttributeValues: { ':old': from, ':new': from + 1 },
  });
}

/** Adds one to the version by compare-and-set, again until it succeeds. */
async function increment(bench: TableBench, TableName: string): Promise<void> {
  for (;;) {
    const item = await readItem(bench, TableName);
    try {
      await bench.client.send(casCommand(TableName, Number(item?.['version'])));
      return;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
}

const conditionChecks: readonly Check<TableBench>[] = [
  {
    name: 'a put on condition that nothing is there succeeds once',
    run: async (bench) => {
      const TableName = await bench.table();
      const put = (value: string): Promise<unknown> =>
        bench.client.send(
          new PutCommand({
            TableName,
            Item: { ...key, value },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        );
      await put('first');
      await assert.rejects(put('second'), ConditionalCheckFailedException);
      assert.equal((await readItem(bench, TableName))?.['value'], 'first');
    },
  },
  {
    name: 'an update or delete whose condition fails changes nothing',
    run: async (bench) => {
      const TableName = await bench.table();
      await bench.client.send(new PutCommand({ TableName, Item: { ...key, version: 1 } }));
      await assert.rejects(
        bench.client.send(casCommand(TableName, 7)),
        ConditionalCheckFailedException,
      );
      const remove = (version: number): Promise<unknown> =>
        bench.client.send(
          new DeleteCommand({
            TableName,
            Key: key,
            ConditionExpression: 'version = :v',
            ExpressionAttributeValues: { ':v': version },
          }),
        );
      await assert.rejects(remove(7), ConditionalCheckFailedException);
      assert.deepEqual(await readItem(bench, TableName), { ...key, version: 1 });
      await remove(1);
      assert.equal(await readItem(bench, TableName), undefined);
    },
  },
  {
    name: 'four writers of one item lose no update: 4 × 4 = 16',
    run: async (bench) => {
      const TableName = await bench.table();
      await bench.client.send(new PutCommand({ TableName, Item: { ...key, version: 0 } }));
      const writer = async (): Promise<void> => {
        for (let count = 0; count < 4; count += 1) await increment(bench, TableName);
      };
      await Promise.all(Array.from({ length: 4 }, writer));
      assert.equal((await readItem(bench, TableName))?.['version'], 16);
    },
  },
  {
    name: 'a failed condition gives the item where that is asked for',
    run: async (bench) => {
      const TableName = await bench.table();
      await bench.client.send(new PutCommand({ TableName, Item: { ...key, version: 1 } }));
      const { input } = casCommand(TableName, 7);
      const command = new UpdateCommand({
        ...input,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      await assert.rejects(bench.client.send(command), (error) => {
        assert.ok(error instanceof ConditionalCheckFailedException);
        // The document client leaves the item of an exception as it came over the wire.
        assert.ok(error.Item !== undefined, 'no item');
        return true;
      });
    },
  },
  {
    name: 'a failed condition gives no item where none is asked for',
    run: async (bench) => {
      const TableName = await bench.table();
      await bench.client.send(new PutCommand({ TableName, Item: { ...key, version: 1 } }));
      await assert.rejects(bench.client.send(casCommand(TableName, 7)), (error) => {
        assert.ok(error instanceof ConditionalCheckFailedException);
        assert.equal(error.Item, undefined);
        return true;
      });
    },
  },
];

const contentChecks: readonly Check<TableBench>[] = [
  {
    name: 'an item of more than 400 KB is refused, at a put and at an update that grows it',
    run: async (bench) => {
      const TableName = await bench.table();
      const put = (length: number): Promise<unknown> =>
        bench.client.send(
          new PutCommand({ TableName, Item: { ...key, value: 'x'.repeat(length) } }),
        );
      await assert.rejects(put(410_000), { name: 'ValidationException' });
      await put(300_000);
      const grow = new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression: 'SET more = :m',
        ExpressionAttributeValues: { ':m': 'x'.repeat(110_000) },
      });
      await assert.rejects(bench.client.send(grow), { name: 'ValidationException' });
      assert.equal((await readItem(bench, TableName))?.['more'], undefined);
    },
  },
  {
    name: 'bytes, maps and large integers come back as they went in',
    run: async (bench) => {
      const TableName = await bench.table();
      const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
      const item = { ...key, bytes, map: { list: [1, 'two', null, true] }, n: 2 ** 53 - 1 };
      await bench.client.send(new PutCommand({ TableName, Item: item }));
      assert.deepEqual(await readItem(bench, TableName), item);
    },
  },
  {
    name: 'an update creates what is not there, and returns what it wrote',
    run: async (bench) => {
      const TableName = await bench.table();
      const update = new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression:
          'SET #count = if_not_exists(#count, :zero) + :one, #map = :map REMOVE gone',
        ExpressionAttributeNames: { '#count': 'count', '#map': 'map' },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1, ':map': { a: 1 } },
        ReturnValues: 'ALL_NEW',
      });
      await bench.client.send(update);
      const { Attributes: attributes } = await bench.client.send(update);
      assert.deepEqual(attributes, { ...key, count: 2, map: { a: 1 } });
    },
  },
  {
    name: 'string sets grow and shrink, and can be asked',
    run: async (bench) => {
      const TableName = await bench.table();
      const change = (expression: string, member: string, condition?: string): Promise<unknown> =>
        bench.client.send(
          new UpdateCommand({
            TableName,
            Key: key,
            UpdateExpression: `${expression} uids :set`,
            ConditionExpression: condition,
            ExpressionAttributeValues: {
              ':set': new Set([member]),
              ...(condition !== undefined && { ':member': member }),
            },
          }),
        );
      await change('ADD', 'a');
      await change('ADD', 'b');
      await change('DELETE', 'a', 'contains(uids, :member)');
      await assert.rejects(
        change('DELETE', 'a', 'contains(uids, :member)'),
        ConditionalCheckFailedException,
      );
      assert.deepEqual((await readItem(bench, TableName))?.['uids'], new Set(['b']));
    },
  },
  {
    name: 'an expression value that is not used is refused',
    run: async (bench) => {
      const TableName = await bench.table();
      const { input } = casCommand(TableName, 0);
      const command = new UpdateCommand({
        ...input,
        ExpressionAttributeValues: { ...input.ExpressionAttributeValues, ':unused': 1 },
      });
      await assert.rejects(bench.client.send(command), { name: 'ValidationException' });
    },
  },
];

const readChecks: readonly Check<TableBench>[] = [
  {
    name: 'a consistent read sees the write before it',
    run: async (bench) => {
      const TableName = await bench.table();
      for (let version = 0; version < 50; version += 1) {
        await bench.client.send(new PutCommand({ TableName, Item: { ...key, version } }));
        assert.equal((await readItem(bench, TableName))?.['version'], version);
      }
    },
  },
  {
    name: 'a query gives the items of one partition in order, page by page',
    run: async (bench) => {
      const TableName = await bench.table();
      for (const sk of ['b2', 'a', 'b10', 'b1', 'c']) {
        await bench.client.send(new PutCommand({ TableName, Item: { pk: 'p', sk } }));
      }
      await bench.client.send(new PutCommand({ TableName, Item: { pk: 'other', sk: 'b3' } }));
      const found: unknown[] = [];
      let ExclusiveStartKey: Record<string, unknown> | undefined;
      let pageCount = 0;
      do {
        const page = await bench.client.send(
          new QueryCommand({
            TableName,
            KeyConditionExpression: 'pk = :p AND begins_with(sk, :b)',
            ExpressionAttributeValues: { ':p': 'p', ':b': 'b' },
            ConsistentRead: true,
            Limit: 2,
            ExclusiveStartKey,
          }),
        );
        found.push(...(page.Items ?? []).map((item): unknown => item['sk']));
        ExclusiveStartKey = page.LastEvaluatedKey;
        pageCount += 1;
      } while (ExclusiveStartKey !== undefined);
      assert.deepEqual(found, ['b1', 'b10', 'b2']);
      assert.ok(pageCount >= 2);
    },
  },
  {
    name: 'a batch get gives what is there, strongly consistent',
    run: async (bench) => {
      const TableName = await bench.table();
      const Keys = Array.from({ length: 40 }, (_, index) => ({ pk: `p${index}`, sk: 's' }));
      for (const Item of Keys.slice(0, 30)) {
        await bench.client.send(new PutCommand({ TableName, Item }));
      }
      const command = new BatchGetCommand({
        RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
      });
      const answer = await bench.client.send(command);
      const unprocessedCount = answer.UnprocessedKeys?.[TableName]?.Keys?.length ?? 0;
      assert.equal((answer.Responses?.[TableName]?.length ?? 0) + unprocessedCount, 30);
    },
  },
];

/** The checks of a table. */
export const tableChecks: readonly Check<TableBench>[] = [
  ...conditionChecks,
  ...contentChecks,
  ...readChecks,
  ...statementChecks,
];
