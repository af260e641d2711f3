/** Lifecycle hooks: after the start, before the end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { PodBench } from '../../../support/pod-bench.ts';

const EXEC = { exec: { command: ['/hook'] } };

async function killTaking(bench: PodBench, graceSeconds: number): Promise<number> {
  const startMs = bench.clock.monotonicMs();
  let endMs: number | undefined;
  const killed = bench.kill(graceSeconds).then(() => {
    endMs = bench.clock.monotonicMs();
  });
  await bench.clock.advanceUntil(() => endMs !== undefined, { withinMs: 3_600_000 });
  await killed;
  return (endMs ?? Number.NaN) - startMs;
}

test('a post-start hook runs after the start; the next container waits for it', async () => {
  const bench = createPodBench({
    simulate: { app: 'post-start=3s' },
    spec: {
      containers: [
        plainContainer('app', { lifecycle: { postStart: EXEC } }),
        plainContainer('next'),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(2500);
  assert.equal(bench.container('app')?.state, 'running');
  assert.equal(bench.container('next'), undefined);
  await bench.clock.advance(3000);
  assert.equal(bench.container('next')?.state, 'running');
});

test('a post-start hook that fails kills the container, which is tried again', async () => {
  const bench = createPodBench({
    simulate: { app: 'post-start-fails, runs=1' },
    spec: { containers: [plainContainer('app', { lifecycle: { postStart: EXEC } })] },
  });
  bench.start();
  await bench.clock.advanceUntil(() => bench.results.length > 0, { withinMs: 10_000 });
  assert.deepEqual(bench.reasons().slice(0, 6), [
    'Pulling',
    'Pulled',
    'Created',
    'Started',
    'FailedPostStartHook',
    'Killing',
  ]);
  assert.equal(bench.events[5]?.message, 'FailedPostStartHook');
  assert.equal(bench.results[0]?.waiting.get('app')?.reason, 'PostStartHookError');
  await bench.clock.advance(30_000);
  assert.equal(bench.container()?.state, 'running');
  assert.equal(bench.container()?.config.attempt, 1);
});

test('a pre-stop hook runs before SIGTERM', async () => {
  const bench = createPodBench({
    simulate: { app: 'pre-stop=4s, stop=1s' },
    spec: { containers: [plainContainer('app', { lifecycle: { preStop: EXEC } })] },
  });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(await killTaking(bench, 30), 5000);
  assert.ok(!bench.reasons().includes('FailedPreStopHook'));
  assert.equal(bench.container()?.exitCode, 0);
});

test('a sleep hook waits without asking the container', async () => {
  const bench = createPodBench({
    simulate: { app: 'stop=1s' },
    spec: {
      containers: [plainContainer('app', { lifecycle: { preStop: { sleep: { seconds: 7 } } } })],
    },
  });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(await killTaking(bench, 30), 8000);
});

test('a pre-stop hook that fails is told, and the container stops all the same', async () => {
  const bench = createPodBench({
    simulate: { app: 'pre-stop-fails' },
    spec: { containers: [plainContainer('app', { lifecycle: { preStop: EXEC } })] },
  });
  bench.start();
  await bench.clock.advance(3000);
  await killTaking(bench, 30);
  const event = bench.events.find(({ reason }) => reason === 'FailedPreStopHook');
  assert.deepEqual([event?.type, event?.message], ['Warning', 'PreStopHook failed']);
  assert.equal(bench.container()?.state, 'exited');
});

test('a pre-stop hook longer than the grace leaves two seconds for SIGTERM', async () => {
  const bench = createPodBench({
    simulate: { app: 'pre-stop=1h, ignore-sigterm' },
    spec: { containers: [plainContainer('app', { lifecycle: { preStop: EXEC } })] },
  });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(await killTaking(bench, 10), 12_000);
  assert.equal(bench.container()?.exitCode, 137);
});
