/** Dead letters over DynamoDB, on dynalite in this process (M4). */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoDeadLetterStore } from '../../../src/adapters/dynamodb/dead-letter-store.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry/registry-store.ts';
import { testDeadLetterStore, testFirstRefusals } from '../../support/dead-letter-suite.ts';
import type { DeadLetterBench } from '../../support/dead-letter-suite.ts';
import { useKeyTables } from '../../support/key-tables.ts';

const TableName = 'registry';

describe('dead letters over DynamoDB (M4)', () => {
  const tables = useKeyTables(TableName);
  let bench: DeadLetterBench | undefined;
  const opened = (): DeadLetterBench => {
    assert.ok(bench !== undefined, 'set up by the hook');
    return bench;
  };

  before(() => {
    const options = tables.of(TableName);
    const registry = createDynamoRegistryStore(options);
    bench = {
      letters: createDynamoDeadLetterStore(options),
      recordDeadLetter: (record) => registry.recordDeadLetter(record),
    };
  });

  testDeadLetterStore(opened);
  testFirstRefusals(opened);

  it('shows a record that it cannot read, and does not leave it out', async () => {
    const sk = '000000000000007#events#m';
    const Item = { pk: 'DEAD-LETTER#newer', sk, body: { format: 2 } };
    await tables.client().send(new PutCommand({ TableName, Item }));
    const { letters } = await opened().letters.list('newer', { limit: 5 });
    assert.deepEqual(
      letters.map(({ code, atMs, place }) => ({ code, atMs, sort: place.sort })),
      [{ code: 'unreadable-record', atMs: 7, sort: sk }],
    );
  });
});
