/** C.5, F14, issue 16: what a quiet day and a heartbeat cost a cluster of ten nodes and ten DaemonSets, counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countHeartbeat, countQuietDay } from '../../../performance/support/counted-changes.ts';
import { sumOf } from '../../../support/model/model-use.ts';
import type { FunctionUse } from '../../../support/model/model-world.ts';

function assertAtMost(use: Readonly<FunctionUse>, bounds: Readonly<Partial<FunctionUse>>): void {
  for (const [field, bound] of Object.entries(bounds)) {
    const counted = use[field as keyof FunctionUse];
    assert.ok(counted <= bound, `${field}: ${String(counted)} of ${String(bound)}`);
  }
}

describe('when nothing happens', () => {
  it('a heartbeat is a message, two items read and one written', async () => {
    const { ingest } = await countHeartbeat();
    assert.deepEqual(
      [ingest.sqsRequests, ingest.readUnits, ingest.writeUnits, ingest.invocations],
      [3, 2, 1, 1],
    );
  });

  it('half a day costs no more than it did; lower a bound when the count falls', async () => {
    const { cluster, stack } = await countQuietDay(12);
    assertAtMost(cluster.ingest, { invocations: 80, readUnits: 270, writeUnits: 150 });
    assertAtMost(cluster.reconcile, { invocations: 16, readUnits: 320, writeUnits: 22 });
    assertAtMost(cluster.resync, { readUnits: 980, writeUnits: 0, sqsRequests: 14 });
    assert.ok(sumOf(cluster, 'sqsRequests') <= 275, 'requests to SQS');
    assert.equal(sumOf(cluster, 'apiRequests'), 0, 'no API server is asked for anything');
    // The walk's item is read and written twice, the directory read once, for half of a unit each; whatever the fleet's size.
    assert.deepEqual([stack.resync.readUnits, stack.resync.writeUnits], [720, 1440]);
  });
});
