/** The freeze of the stack over DynamoDB, on the local tables in this process (M4): the suite of the port, and what nobody can read. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFreezeStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import type { FreezeStore } from '../../../src/ports/stores/freeze-store.ts';
import { testFreezeStore } from '../../support/freeze-store-suite.ts';
import { useKeyTables } from '../../support/key-tables.ts';

describe('the DynamoDB freeze store on the local tables (M4)', () => {
  const tables = useKeyTables('registry');
  let freezes: FreezeStore | undefined;
  const store = (): FreezeStore => freezes ?? assert.fail('set up by the hook');

  before(() => {
    freezes = createDynamoFreezeStore(tables.of('registry'));
  });

  testFreezeStore(store);

  for (const [title, item] of [
    ['has a field that nobody knows', { version: 7, freeze: { daemonSets: {}, until: 5 } }],
    ['has no version', { freeze: { daemonSets: {} } }],
    ['is empty', { version: 7 }],
    ['names who froze it by a number', { version: 7, freeze: { daemonSets: {}, all: { by: 1 } } }],
  ] as const) {
    it(`rejects an item that ${title}: it counts as frozen (protocol 13)`, async () => {
      await tables.client().send(
        new PutCommand({
          TableName: 'registry',
          Item: { pk: 'FREEZE#00', sk: 'FREEZE', ...item },
        }),
      );
      await assert.rejects(store().readFreeze(), { code: 'item-unreadable' });
    });
  }
});
