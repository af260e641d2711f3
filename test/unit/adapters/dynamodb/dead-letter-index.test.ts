/** The index of dead letters is written before the first record that a process keeps of a partition. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoRegistryStore } from '../../../../src/adapters/dynamodb/registry/registry-store.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

it('a partition whose entry could not be written is entered by the next record: no listing misses it', async () => {
  const written: string[] = [];
  let isAway = true;
  const send = ({ input }: PutCommand): Promise<object> => {
    if (isAway) return Promise.reject(new Error('away'));
    written.push(String(input.Item?.['pk']));
    return Promise.resolve({});
  };
  // Of the client only its one method is used.
  const client = { send } as unknown as DynamoDBDocumentClient;
  const registry = createDynamoRegistryStore({
    client,
    tableName: 'registry',
    random: seededRandom(1),
  });
  const letter = { cluster: 'west', queue: 'delay', code: 'lost-hint', detail: '' } as const;
  const keep = (messageId: string): Promise<unknown> =>
    registry.recordDeadLetter({ ...letter, messageId, atMs: 7, body: '' });
  await assert.rejects(keep('first'), /away/);
  isAway = false;
  await keep('second');
  await keep('third');
  assert.deepEqual(written, ['DEAD-LETTER#/partitions', 'DEAD-LETTER#west', 'DEAD-LETTER#west']);
});
