/** How often a process writes notes of refusals: what comes again and again costs a look-up (S6, L3). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createDynamoRegistryStore } from '../../../../src/adapters/dynamodb/registry-store.ts';
import type { RefusalNote, RegistryStore } from '../../../../src/ports/stores/registry-store.ts';

const HOUR_MS = 3_600_000;

describe('notes of refusals that a process writes', () => {
  let written: string[] = [];
  let isAway = false;
  let registry: RegistryStore;
  beforeEach(() => {
    written = [];
    isAway = false;
    const send = ({ input }: PutCommand): Promise<object> => {
      written.push(String(input.Item?.['pk']));
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve({});
    };
    const client = { send } as unknown as DynamoDBDocumentClient; // only `send` is used
    registry = createDynamoRegistryStore({ client, tableName: 'r', random: seededRandom(1) });
  });
  const note = (change: Partial<RefusalNote>): Promise<string> =>
    registry.noteRefusal({
      ...{ cluster: 'west', sender: 'unverified', senderRoleId: 'AROA', queue: 'ingest' },
      ...{ code: 'wrong-sender', detail: '', atMs: 7 },
      ...change,
    });

  it('twenty of a sender in an hour, whatever clusters it names', async () => {
    const outcomes = [];
    for (let index = 0; index < 30; index += 1) {
      outcomes.push(await note({ cluster: `c${String(index)}` }));
    }
    assert.equal(written.length, 20);
    assert.deepEqual(
      outcomes.slice(20),
      Array.from({ length: 10 }, () => 'unkept'),
    );
    assert.equal(await note({ senderRoleId: 'AROB' }), 'first', 'another sender has its own');
    assert.equal(await note({ atMs: HOUR_MS }), 'first', 'and so has another hour');
  });

  it('one an hour of what a sender repeats, and one each time of a body that cannot be read', async () => {
    for (let time = 0; time < 5; time += 1) {
      await note({});
      await note({ sender: 'verified', code: 'wrong-cluster-uid' });
      await note({ sender: 'verified', code: 'invalid' });
    }
    const counts = Object.groupBy(written, (pk) => pk);
    assert.equal(counts['REFUSED#/west']?.length, 1);
    assert.equal(counts['REFUSED#west']?.length, 6);
  });

  it('tries once for a forger while the table is away, and each time for a known sender', async () => {
    isAway = true;
    await assert.rejects(note({}), /away/);
    assert.equal(await note({}), 'unkept');
    const own = { sender: 'verified', code: 'wrong-cluster-uid' } as const;
    await assert.rejects(note(own), /away/);
    isAway = false;
    assert.equal(await note(own), 'first');
  });
});
