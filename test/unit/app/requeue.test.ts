/** Timers: forwarded when due, hopping until then (protocol 12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { Timer } from '../../../src/core/model/hint.ts';
import { requeueTimers } from '../../../src/app/requeue.ts';
import { MemoryLog } from '../../support/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';
import { RecordingHintQueue } from '../../support/recording-hint-queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const clock = new VirtualClock();

function setUp(): Parameters<typeof requeueTimers>[1] & { queue: RecordingHintQueue } {
  return {
    queue: new RecordingHintQueue(),
    clock,
    log: new MemoryLog(),
    metrics: new MemoryMetrics(),
  };
}

function timer(id: string, inMs: number): Timer {
  const key = { cluster: clusterId('a'), namespace: 'system', name: 'agents' };
  return {
    schema: 1,
    hint: { schema: 1, key, clusterUid: clusterUid('u'), reason: 'retry' },
    timerId: id,
    dueAtMs: clock.nowMs() + inMs,
    hops: 0,
  };
}

describe('requeueTimers', () => {
  it('forwards what is due, with two seconds of grace, as due', async () => {
    const dependencies = setUp();
    const outcomes = await requeueTimers([timer('1', -5), timer('2', 1_900)], dependencies);
    assert.deepEqual(outcomes, [{ kind: 'forwarded' }, { kind: 'forwarded' }]);
    assert.deepEqual(
      dependencies.queue.hints.map(({ reason }) => reason),
      ['due', 'due'],
    );
  });

  it('gives each timer an id of its own; a redelivered one repeats it', async () => {
    const dependencies = setUp();
    await requeueTimers([timer('1', 0), timer('2', 0)], dependencies);
    await requeueTimers([timer('1', 0)], dependencies);
    assert.equal(dependencies.queue.hints.length, 2);
    assert.deepEqual(
      dependencies.queue.sends.map(({ prefix }) => prefix),
      ['timer/1', 'timer/2', 'timer/1'],
    );
  });

  it('lets a longer delay hop, unchanged but for the count', async () => {
    const dependencies = setUp();
    const far = timer('1', 3_600_000);
    assert.deepEqual(await requeueTimers([far], dependencies), [{ kind: 'hopped' }]);
    assert.deepEqual(dependencies.queue.timers, [{ ...far, hops: 1 }]);
  });

  it('fails only the timer whose send failed', async () => {
    const dependencies = setUp();
    dependencies.queue.failNext(1);
    const outcomes = await requeueTimers([timer('1', 0), timer('2', 0)], dependencies);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['failed', 'forwarded'],
    );
  });
});
