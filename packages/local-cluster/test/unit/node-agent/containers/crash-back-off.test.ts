/** CrashLoopBackOff: its delays, its event, its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench } from '../../../support/pod-bench.ts';
import type { PodBench } from '../../../support/pod-bench.ts';

/** Seconds from the end of each run to the start of the next. */
function pausesOf(bench: PodBench, runSeconds: number): readonly number[] {
  const starts = bench.events.filter(({ reason }) => reason === 'Started').map(({ atMs }) => atMs);
  return starts
    .slice(1)
    .map((atMs, index) => Math.round((atMs - (starts[index] ?? 0)) / 1000 - runSeconds));
}

test('the first restart comes at once, then 10 s, doubling to five minutes', async () => {
  const bench = createPodBench({ simulate: { app: 'exit=1@1s' } });
  bench.start();
  await bench.clock.advance(30 * 60_000);
  assert.deepEqual(pausesOf(bench, 1).slice(0, 8), [0, 10, 20, 40, 80, 160, 300, 300]);
});

test('while it waits the reason, the message and the event are the kubelet’s', async () => {
  const bench = createPodBench({
    spec: { containers: [{ name: 'app', image: 'registry.example/crash-loop:1' }] },
  });
  bench.start();
  await bench.clock.advance(5000);
  assert.deepEqual(bench.results.at(-1)?.waiting.get('app'), {
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container=app pod=agent-x_ops(0000-1111)',
  });
  assert.deepEqual(bench.results.at(-1)?.failures, []);
  const { retryAfterMs = 0 } = bench.results.at(-1) ?? {};
  assert.ok(retryAfterMs > 0 && retryAfterMs <= 10_000, String(retryAfterMs));
  const event = bench.events.find(({ reason }) => reason === 'BackOff');
  assert.equal(event?.type, 'Warning');
  assert.equal(
    event.message,
    'Back-off restarting failed container app in pod agent-x_ops(0000-1111)',
  );
  assert.equal(event.fieldPath, 'spec.containers{app}');
});

test('a container that recovers runs, and its back-off is forgotten after ten minutes', async () => {
  const bench = createPodBench({ simulate: { app: 'exit=1@11m' } });
  bench.start();
  await bench.clock.advance(60 * 60_000);
  assert.deepEqual(pausesOf(bench, 660), [0, 0, 0, 0, 0]);
});

test('forget drops the back-off of a pod', async () => {
  const bench = createPodBench({ simulate: { app: 'exit=1@1s' } });
  bench.start();
  await bench.clock.advance(4000);
  assert.equal(bench.waitingReason(), 'CrashLoopBackOff');
  bench.podRuntime.forget(bench.pod.metadata.uid);
  bench.update(bench.pod);
  await bench.clock.advance(500);
  assert.equal(bench.container()?.config.attempt, 2);
});
