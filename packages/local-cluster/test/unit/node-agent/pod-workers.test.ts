/** Workers: one operation at a time, newest update wins, states only move forward, back-off and grace (spec node-agent 3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodObject } from '../../../src/node-agent/shared/pod-object.ts';
import { createPodWorkers } from '../../../src/node-agent/pod-workers.ts';
import type { PodWorkers, SyncOutcome } from '../../../src/node-agent/pod-workers.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

interface Bench {
  readonly workers: PodWorkers;
  readonly calls: string[];
  /** Ends the operation that is under way. */
  readonly finish: (outcome?: SyncOutcome | Error) => Promise<void>;
  readonly delays: Map<string, number>;
  readonly finished: string[];
}

function createBench(): Bench {
  const calls: string[] = [];
  const pending: ((outcome: SyncOutcome | Error) => void)[] = [];
  const delays = new Map<string, number>();
  const finished: string[] = [];
  const operation = (call: string): Promise<SyncOutcome> => {
    calls.push(call);
    return new Promise((resolve, reject) => {
      pending.push((outcome) => {
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
    });
  };
  const version = (pod: PodObject): string => pod.metadata.labels?.['version'] ?? '';
  const workers = createPodWorkers({
    syncer: {
      syncPod: ({ type, pod }, signal) => {
        signal.addEventListener('abort', () => calls.push('aborted'));
        return operation(`sync ${type} ${version(pod)}`);
      },
      syncTerminatingPod: async (pod, graceSeconds) => {
        await operation(`terminating ${version(pod)} ${graceSeconds}`);
      },
      syncTerminatedPod: async (pod) => {
        await operation(`terminated ${version(pod)}`);
      },
    },
    queue: {
      enqueue: (uid, delayMs) => delays.set(uid, delayMs),
      remove: (uid) => delays.delete(uid),
    },
    random: seededRandom(1),
    log: new MemoryLog(),
    onFinished: (pod) => finished.push(pod.metadata.uid),
  });
  return {
    workers,
    calls,
    delays,
    finished,
    finish: async (outcome = { kind: 'synced' }) => {
      pending.shift()?.(outcome);
      await settle();
    },
  };
}

function pod(version: string, of: Partial<PodObject['metadata']> = {}, uid = 'a'): PodObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'default',
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { version },
      ...of,
    },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: 'i' }] },
  };
}

const DELETED = {
  deletionTimestamp: '2026-01-01T00:00:30Z',
  deletionGracePeriodSeconds: 20,
} as const;

describe('a pod worker', () => {
  it('does one thing at a time and then only the newest of what has come', async () => {
    const { workers, calls, finish } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    workers.update({ type: 'update', pod: pod('2') });
    workers.update({ type: 'update', pod: pod('3') });
    assert.deepEqual(calls, ['sync create 1']);
    await finish();
    assert.deepEqual(calls, ['sync create 1', 'sync update 3']);
    await finish();
    assert.equal(calls.length, 2);
  });

  it('does not wait for the worker of another pod', () => {
    const { workers, calls } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    workers.update({ type: 'create', pod: pod('1', {}, 'b') });
    assert.equal(calls.length, 2);
  });

  it('goes from syncing through terminating and terminated to finished, and no further', async () => {
    const { workers, calls, finish, finished, delays } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    await finish();
    assert.ok(delays.has('a'));
    workers.update({ type: 'update', pod: pod('2', DELETED) });
    assert.equal(workers.state('a'), 'terminating');
    await finish();
    assert.equal(workers.state('a'), 'terminated');
    await finish();
    assert.equal(workers.state('a'), 'finished');
    workers.update({ type: 'update', pod: pod('3') });
    assert.deepEqual(calls, ['sync create 1', 'terminating 2 20', 'terminated 2']);
    assert.deepEqual(finished, ['a']);
    assert.equal(delays.size, 0);
  });

  it('aborts a sync that is under way when the pod is to end', async () => {
    const { workers, calls, finish } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    workers.update({ type: 'update', pod: pod('2', DELETED) });
    assert.deepEqual(calls, ['sync create 1', 'aborted']);
    await finish({ kind: 'retry', why: 'aborted' });
    assert.equal(calls.at(-1), 'terminating 2 20');
  });

  it('ends a pod that has ended by itself', async () => {
    const { workers, calls, finish } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    await finish({ kind: 'terminal' });
    assert.equal(calls.at(-1), 'terminating 1 30');
  });

  it('never lengthens the grace period, and never gives less than a second', async () => {
    const { workers, calls, finish } = createBench();
    const graceOf = (deletionGracePeriodSeconds: number): Partial<PodObject['metadata']> => ({
      ...DELETED,
      deletionGracePeriodSeconds,
    });
    workers.update({ type: 'update', pod: pod('1', graceOf(5)) });
    workers.update({ type: 'update', pod: pod('2', graceOf(20)) });
    await finish(new Error('busy'));
    assert.deepEqual(calls, ['terminating 1 5', 'terminating 2 5']);
    workers.update({ type: 'kill', pod: pod('3', graceOf(0)) });
    await finish(new Error('busy'));
    assert.equal(calls.at(-1), 'terminating 3 1');
  });

  it('comes back after a minute, after an error when told or in 10 to 15 s', async () => {
    const { workers, finish, delays } = createBench();
    const delay = async (outcome: SyncOutcome | Error): Promise<number> => {
      workers.update({ type: 'sync', pod: pod('1') });
      await finish(outcome);
      return delays.get('a') ?? Number.NaN;
    };
    const regular = await delay({ kind: 'synced' });
    assert.ok(regular >= 60_000 && regular <= 90_000, String(regular));
    assert.equal(await delay({ kind: 'retry', why: 'back-off', afterMs: 3000 }), 3000);
    assert.equal(await delay({ kind: 'retry', why: 'back-off', afterMs: 300_000 }), 60_000);
    for (const failed of [{ kind: 'retry', why: 'no' } as const, new Error('no')]) {
      const delayMs = await delay(failed);
      assert.ok(delayMs >= 10_000 && delayMs <= 15_000, String(delayMs));
    }
  });

  it('begins nothing after the agent has stopped', async () => {
    const { workers, calls, finish } = createBench();
    workers.update({ type: 'create', pod: pod('1') });
    workers.update({ type: 'update', pod: pod('2') });
    workers.stop();
    await finish();
    workers.update({ type: 'update', pod: pod('3') });
    assert.deepEqual(calls, ['sync create 1', 'aborted']);
  });
});
