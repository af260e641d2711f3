/** What Rollcall relies on in a batch of statements: updates of items that are there, each by itself (ADR 0048). */
import assert from 'node:assert/strict';
import { BatchExecuteStatementCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Check } from './check.ts';
import type { TableBench } from './table-bench.ts';

interface Update {
  readonly sk: string;
  readonly from: number | string;
  readonly operator?: '=' | '<';
}

/** The form that the stores write, and the codes of the answers. */
async function updateAll(
  bench: TableBench,
  tableName: string,
  updates: readonly Update[],
): Promise<readonly (string | undefined)[]> {
  const command = new BatchExecuteStatementCommand({
    Statements: updates.map(({ sk, from, operator = '=' }) => ({
      Statement: `UPDATE "${tableName}" SET "version"=? SET "body"=? REMOVE "gone" WHERE "pk"=? AND "sk"=? AND "version"${operator}?`,
      Parameters: [9, Uint8Array.of(1, 2, 3), 'p', sk, from],
    })),
  });
  const { Responses: answers = [] } = await bench.client.send(command);
  assert.equal(answers.length, updates.length);
  return answers.map((answer) => answer.Error?.Code);
}

async function withItems(
  bench: TableBench,
  items: Readonly<Record<string, object>>,
): Promise<string> {
  const TableName = await bench.table();
  for (const [sk, item] of Object.entries(items)) {
    await bench.client.send(new PutCommand({ TableName, Item: { ...item, pk: 'p', sk } }));
  }
  return TableName;
}

async function read(bench: TableBench, TableName: string, sk: string): Promise<unknown> {
  const command = new GetCommand({ TableName, Key: { pk: 'p', sk }, ConsistentRead: true });
  return (await bench.client.send(command)).Item;
}

const WRITTEN = { pk: 'p', version: 9, body: Uint8Array.of(1, 2, 3) };

const updateChecks: readonly Check<TableBench>[] = [
  {
    name: 'of a batch of updates each succeeds or fails by itself',
    run: async (bench) => {
      const tableName = await withItems(bench, {
        a: { version: 1, gone: 'x' },
        b: { version: 2, other: 'stays' },
        c: { version: 3 },
      });
      const codes = await updateAll(bench, tableName, [
        { sk: 'a', from: 1 },
        { sk: 'b', from: 1 },
        { sk: 'none', from: 1 },
        { sk: 'c', from: 4, operator: '<' },
      ]);
      const failed = 'ConditionalCheckFailed';
      assert.deepEqual(codes, [undefined, failed, failed, undefined]);
      assert.deepEqual(await read(bench, tableName, 'a'), { ...WRITTEN, sk: 'a' });
      assert.deepEqual(await read(bench, tableName, 'b'), {
        ...{ pk: 'p', sk: 'b', version: 2, other: 'stays' },
      });
      assert.equal(await read(bench, tableName, 'none'), undefined);
      assert.deepEqual(await read(bench, tableName, 'c'), { ...WRITTEN, sk: 'c' });
    },
  },
  {
    name: 'an update takes away what is not there without a word, and keeps what it does not name',
    run: async (bench) => {
      const tableName = await withItems(bench, { a: { version: 1, other: 'stays' } });
      assert.deepEqual(await updateAll(bench, tableName, [{ sk: 'a', from: 1 }]), [undefined]);
      assert.deepEqual(await read(bench, tableName, 'a'), { ...WRITTEN, sk: 'a', other: 'stays' });
    },
  },
  {
    name: 'an update whose condition compares with another type changes nothing',
    run: async (bench) => {
      const tableName = await withItems(bench, { a: { version: 1 } });
      const codes = await updateAll(bench, tableName, [{ sk: 'a', from: 'one' }]);
      assert.deepEqual(codes, ['ConditionalCheckFailed']);
      assert.deepEqual(await read(bench, tableName, 'a'), { pk: 'p', sk: 'a', version: 1 });
    },
  },
  {
    name: 'of two batches about the same items each item is written by one',
    run: async (bench) => {
      const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
      const tableName = await withItems(
        bench,
        Object.fromEntries(names.map((sk) => [sk, { version: 1 }])),
      );
      const updates = names.map((sk) => ({ sk, from: 1 }));
      const both = await Promise.all([
        updateAll(bench, tableName, updates),
        updateAll(bench, tableName, updates),
      ]);
      for (const [index, sk] of names.entries()) {
        const codes = both.map((codes) => codes[index]);
        assert.equal(codes.filter((code) => code === undefined).length, 1, sk);
      }
    },
  },
  {
    name: 'twenty-five statements are taken, twenty-six are refused',
    run: async (bench) => {
      const names = Array.from({ length: 26 }, (_, index) => `s${index}`);
      const tableName = await withItems(
        bench,
        Object.fromEntries(names.map((sk) => [sk, { version: 1 }])),
      );
      const updates = names.map((sk) => ({ sk, from: 1 }));
      await assert.rejects(updateAll(bench, tableName, updates), { name: 'ValidationException' });
      const codes = await updateAll(bench, tableName, updates.slice(1));
      assert.ok(codes.every((code) => code === undefined));
    },
  },
];

/** The checks of batches of statements. */
export const statementChecks: readonly Check<TableBench>[] = [...updateChecks];
