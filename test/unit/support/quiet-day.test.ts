/** C.5, F14: what a day in which nothing happens costs a cluster, counted; no more may creep in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countQuietDay } from '../../performance/support/quiet-day.ts';

describe('a quiet day', () => {
  it('costs a cluster two reads a minute, a look at its due times each quarter of an hour, four hints a key', async () => {
    const { cluster, stack } = await countQuietDay();
    // Registration and META; 92 looks at ten states and a page of names, four pages of names alone.
    assert.equal(cluster.readUnits, 1440 * 2 + 92 * 11 + 4);
    assert.deepEqual(
      [cluster.writeUnits, cluster.hints, cluster.sqsRequests, cluster.invocations],
      [0, 40, 4, 0],
      'nothing is written for a cluster',
    );
    // The walk's item is read and written twice, the directory read once; whatever the fleet's size.
    assert.deepEqual([stack.readUnits, stack.writeUnits, stack.invocations], [2880, 2880, 1440]);
  });
});
