/** Timers: forwarded when due, hopping until then (protocol 12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { Timer } from '../../../../src/core/model/hint.ts';
import { requeueTimers, type RequeueDependencies } from '../../../../src/app/requeue/requeue.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { RecordingHintQueue } from '../../../support/recording-hint-queue.ts';
import { metaOf } from '../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const clock = new VirtualClock();

interface SetUp extends RequeueDependencies {
  readonly queue: RecordingHintQueue;
  readonly view: MemoryViewStore;
  readonly metrics: MemoryMetrics;
}

function setUp(): SetUp {
  return {
    queue: new RecordingHintQueue(),
    view: new MemoryViewStore(),
    clock,
    log: new MemoryLog(),
    metrics: new MemoryMetrics(),
  };
}

function timer(id: string, inMs: number, cluster = 'a'): Timer {
  const key = { cluster: clusterId(cluster), namespace: 'system', name: 'agents' };
  return {
    schema: 1,
    hint: { schema: 1, key, clusterUid: clusterUid(`uid-${cluster}`), reason: 'retry' },
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

  it('sends timers of a suspect cluster through its lanes, of others to their own groups (L3, row 61)', async () => {
    const dependencies = setUp();
    const { view, queue } = dependencies;
    for (const cluster of ['slow', 'calm']) await view.writeMeta(metaOf(`uid-${cluster}`));
    const slowUntilMs = clock.nowMs() + 30_000;
    const slow = { version: 0, failures: 0, openings: 0, slowUntilMs };
    assert.equal(await view.writeBreaker(clusterUid('uid-slow'), slow), 'written');
    await requeueTimers(
      [timer('1', 0, 'slow'), timer('2', 0, 'calm'), timer('3', 0, 'slow'), timer('4', 0, 'new')],
      dependencies,
    );
    const paces = queue.sends.map(({ prefix, pace }) => [prefix, pace ?? 'usual']).sort();
    assert.deepEqual(paces, [
      ['timer/1', 'suspect'],
      ['timer/2', 'usual'],
      ['timer/3', 'suspect'],
      ['timer/4', 'usual'],
    ]);
    const reads = view.calls.filter(({ operation }) => operation === 'readBreaker');
    assert.equal(reads.length, 3, 'one read for each cluster of a batch');
  });

  it('reads no breaker for what only hops', async () => {
    const dependencies = setUp();
    await requeueTimers([timer('1', 3_600_000)], dependencies);
    assert.deepEqual(dependencies.view.calls, []);
  });

  it('forwards as usual, and says so, when the breaker cannot be read: no wake-up is lost (L2)', async () => {
    const dependencies = setUp();
    dependencies.view.hooks = {
      before: () => {
        throw new Error('injected: throttled');
      },
    };
    const outcomes = await requeueTimers([timer('1', 0)], dependencies);
    assert.deepEqual(outcomes, [{ kind: 'forwarded' }]);
    assert.equal(dependencies.metrics.sum('RequeueTimers', 'unpaced'), 1);
  });
});
