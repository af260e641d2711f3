/** Statements that are refused: forms that are not known, a change of a key, and two about one item. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { BatchExecuteStatementCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { LoopbackServer } from '@rollcall/local-aws/server/loopback-server.ts';
import { TableBench } from '../../conformance/aws/table-bench.ts';

let server: LoopbackServer;
let bench: TableBench;
let table: string;

before(async () => {
  server = await startDynamoDbServer();
  bench = new TableBench(server.endpoint);
  table = await bench.table();
  await bench.client.send(new PutCommand({ TableName: table, Item: { pk: 'p', sk: 's', v: 1 } }));
});

after(async () => {
  bench.close();
  await server.stop();
});

function update(value: number): { readonly Statement: string; readonly Parameters: unknown[] } {
  return {
    Statement: `UPDATE "${table}" SET "v"=? WHERE "pk"=? AND "sk"=?`,
    Parameters: [value, 'p', 's'],
  };
}

async function codesOf(
  statements: readonly { readonly Statement: string; readonly Parameters?: unknown[] }[],
): Promise<readonly (string | undefined)[]> {
  const command = new BatchExecuteStatementCommand({ Statements: [...statements] });
  const { Responses: answers = [] } = await bench.client.send(command);
  return answers.map((answer) => answer.Error?.Code);
}

it('refuses each statement of another form by itself, and does the others', async () => {
  const others = [
    { Statement: `SELECT * FROM "${table}" WHERE "pk"='p' AND "sk"='s'` },
    { Statement: `DELETE FROM "${table}" WHERE "pk"=? AND "sk"=?`, Parameters: ['p', 's'] },
    { Statement: `UPDATE "${table}" SET "v"=? WHERE "pk"=?`, Parameters: [2, 'p'] },
    { ...update(2), Parameters: [2, 'p'] },
    { ...update(2), Parameters: [2, 'p', 's', 'more'] },
  ];
  const codes = await codesOf([...others, update(3)]);
  assert.deepEqual(codes, [...others.map(() => 'ValidationError'), undefined]);
  assert.deepEqual(
    await codesOf([{ ...update(4), Statement: `${update(4).Statement} AND "v"=3` }]),
    ['ValidationError'],
  );
});

it('refuses a statement that changes a key', async () => {
  for (const name of ['pk', 'sk']) {
    const { Statement: text } = update(4);
    const Parameters = ['another', 'p', 's'];
    const codes = await codesOf([{ Statement: text.replace('"v"', `"${name}"`), Parameters }]);
    assert.deepEqual(codes, ['ValidationError'], name);
  }
});

it('refuses two statements about one item', async () => {
  await assert.rejects(codesOf([update(5), update(6)]), { name: 'ValidationException' });
});
