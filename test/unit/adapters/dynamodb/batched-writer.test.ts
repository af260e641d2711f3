/** Writes side by side travel together; none is answered for another, and what is not plainly answered is written alone. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { BatchExecuteStatementCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchedWriter, type BatchableWrite } from '../../../../src/adapters/dynamodb/batches.ts';
import type { WriteResult } from '../../../../src/ports/stores/view-store.ts';

type Input = NonNullable<BatchExecuteStatementCommand['input']>;
type Batch = NonNullable<Input['Statements']>;

/** A writer whose batches a test answers; keeps what was sent, and who was written alone. */
class Scripted {
  readonly batches: Batch[] = [];
  readonly alone: [string, boolean][] = [];
  answer: (batch: Batch) => unknown = (batch) => ({
    Responses: batch.map(() => ({})),
    $metadata: { attempts: 1 },
  });
  single: (name: string) => Promise<WriteResult> = () => Promise.resolve('written');
  readonly #writer: BatchedWriter;

  constructor() {
    const send = (command: unknown): Promise<unknown> => {
      assert.ok(command instanceof BatchExecuteStatementCommand);
      const { Statements: statements = [] }: Input = command.input;
      this.batches.push(statements);
      return Promise.resolve().then(() => this.answer(statements));
    };
    this.#writer = new BatchedWriter({ send } as unknown as DynamoDBDocumentClient); // only `send` is used
  }

  write(name: string, change: Partial<BatchableWrite> = {}): Promise<WriteResult> {
    const write: BatchableWrite = {
      tableName: 'view',
      key: { pk: name, sk: 'S' },
      attributes: { version: 2, gone: undefined },
      where: { attribute: 'version', operator: '=', value: 1 },
      ...change,
    };
    return this.#writer.write(write, ({ mayStand }) => {
      this.alone.push([name, mayStand]);
      return this.single(name);
    });
  }

  names(): readonly string[][] {
    return this.batches.map((batch) =>
      batch.map(({ Parameters: given = [] }) => String(given.at(-3))),
    );
  }
}

async function turns(count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) await turn();
}

describe('writes of single items', () => {
  it('travel together, each under its own condition, and say what goes away', async () => {
    const table = new Scripted();
    const results = await Promise.all([
      table.write('a'),
      table.write('b', { where: { attribute: 'stamp', operator: '<', value: 's' } }),
    ]);
    assert.deepEqual(results, ['written', 'written']);
    assert.deepEqual(table.batches, [
      [
        {
          Statement:
            'UPDATE "view" SET "version"=? REMOVE "gone" WHERE "pk"=? AND "sk"=? AND "version"=?',
          Parameters: [2, 'a', 'S', 1],
        },
        {
          Statement:
            'UPDATE "view" SET "version"=? REMOVE "gone" WHERE "pk"=? AND "sk"=? AND "stamp"<?',
          Parameters: [2, 'b', 'S', 's'],
        },
      ],
    ]);
    assert.deepEqual(table.alone, []);
  });

  it('go alone where there is no company, or where one is large', async () => {
    const table = new Scripted();
    await table.write('a');
    const body = new Uint8Array(70_000);
    await Promise.all([table.write('b'), table.write('large', { attributes: { body } })]);
    assert.deepEqual(table.batches, []);
    assert.deepEqual(table.alone.toSorted(), [
      ['a', false],
      ['b', false],
      ['large', false],
    ]);
  });

  it('are lost by themselves: the others of a batch are written', async () => {
    const table = new Scripted();
    table.answer = () => ({
      Responses: [{}, { Error: { Code: 'ConditionalCheckFailed' } }],
      $metadata: { attempts: 1 },
    });
    assert.deepEqual(await Promise.all([table.write('a'), table.write('b')]), ['written', 'lost']);
    assert.deepEqual(table.alone, []);
  });

  it('ask alone once more where a failed condition may be our own success, or a missing item', async () => {
    const table = new Scripted();
    const failed = { Error: { Code: 'ConditionalCheckFailed' } };
    table.answer = () => ({ Responses: [failed, failed], $metadata: { attempts: 2 } });
    table.single = (name) => Promise.resolve(name === 'a' ? 'written' : 'lost');
    assert.deepEqual(await Promise.all([table.write('a'), table.write('b')]), ['written', 'lost']);
    table.answer = () => ({ Responses: [failed, {}], $metadata: { attempts: 1 } });
    const older = { where: { attribute: 'stamp', operator: '<', value: 's' } } as const;
    await Promise.all([table.write('c', older), table.write('d', older)]);
    assert.deepEqual(table.alone, [
      ['a', true],
      ['b', true],
      ['c', true],
    ]);
  });

  it('ask alone where a statement is throttled, refused or not answered; one failure is no other’s', async () => {
    const table = new Scripted();
    table.answer = () => ({
      Responses: [{ Error: { Code: 'ThrottlingError' } }, { Error: { Code: 'AccessDenied' } }],
      $metadata: { attempts: 1 },
    });
    table.single = (name) =>
      name === 'b' ? Promise.reject(new Error('down')) : Promise.resolve('written');
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => table.write(name)));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(table.alone, [
      ['a', true],
      ['b', true],
      ['c', true],
    ]);
  });

  it('fail with their request', async () => {
    const table = new Scripted();
    table.answer = () => {
      throw new Error('the table is gone');
    };
    const results = await Promise.allSettled([table.write('a'), table.write('b')]);
    assert.ok(results.every(({ status }) => status === 'rejected'));
    table.answer = (batch) => ({ Responses: batch.map(() => ({})), $metadata: { attempts: 1 } });
    assert.deepEqual(await Promise.all([table.write('a'), table.write('b')]), [
      'written',
      'written',
    ]);
  });

  it('never meet a second write of their item in one batch, nor more than twenty-five', async () => {
    const table = new Scripted();
    const many = Array.from({ length: 30 }, (_, index) => `n${String(index)}`);
    await Promise.all([...many, 'n0'].map((name) => table.write(name)));
    assert.deepEqual(
      table.names().map((names) => [names.length, new Set(names).size]),
      [
        [25, 25],
        [6, 6],
      ],
    );
  });

  it('wait for each other while two are under way, and for no one that hangs', async () => {
    const table = new Scripted();
    const release: (() => void)[] = [];
    table.single = () =>
      new Promise((resolve) => {
        release.push(() => {
          resolve('written');
        });
      });
    const first = table.write('hangs');
    await turn();
    const second = table.write('b');
    await turn();
    const rest = ['c', 'd', 'e'].map((name) => table.write(name));
    await turn();
    assert.deepEqual(table.batches, []);
    release[1]?.();
    // What waits for ever fails here and now: a test that hangs says nothing.
    const isStuck = turns(50).then(() => 'stuck');
    const answered = Promise.all([second, ...rest]);
    assert.deepEqual(await Promise.race([answered, isStuck]), Array(4).fill('written'));
    assert.deepEqual(table.names(), [['c', 'd', 'e']]);
    release[0]?.();
    assert.equal(await first, 'written');
  });
});
