/** The end of a pod: SIGTERM, grace, SIGKILL, order, sandbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { PodBench, PodBenchOptions } from '../../../support/pod-bench.ts';

async function runningBench(options: PodBenchOptions): Promise<PodBench> {
  const bench = createPodBench(options);
  bench.start();
  await bench.clock.advance(10_000);
  return bench;
}

async function secondsToEnd(bench: PodBench, killing: Promise<void>): Promise<number> {
  const startMs = bench.clock.monotonicMs();
  let endMs: number | undefined;
  const ended = killing.then(() => {
    endMs = bench.clock.monotonicMs();
  });
  await bench.clock.advanceUntil(() => endMs !== undefined, { withinMs: 3_600_000 });
  await ended;
  return ((endMs ?? Number.NaN) - startMs) / 1000;
}

test('a container that obeys SIGTERM ends with code 0, then the sandbox stops', async () => {
  const bench = await runningBench({ simulate: { app: 'stop=2s' } });
  assert.equal(await secondsToEnd(bench, bench.kill(30)), 2);
  assert.deepEqual(bench.reasons().slice(-1), ['Killing']);
  assert.equal(bench.events.at(-1)?.message, 'Stopping container app');
  assert.equal(bench.container()?.exitCode, 0);
  const { sandboxes } = bench.podRuntime.status(bench.pod.metadata.uid);
  assert.deepEqual(
    sandboxes.map(({ state }) => state),
    ['notReady'],
  );
  const line = bench.log.lines.find(({ message }) => message === 'container killed');
  assert.deepEqual(line?.fields, {
    pod: 'ops/agent-x',
    container: 'app',
    because: 'Stopping container app',
    graceSeconds: 30,
  });
  await bench.podRuntime.removePod(bench.pod.metadata.uid);
  assert.deepEqual(bench.runtime.listPodSandboxes(), []);
  assert.equal(bench.clock.pendingTimers, 0);
});

test('a container that ignores SIGTERM is killed when the grace is over', async () => {
  const bench = await runningBench({ simulate: { app: 'ignore-sigterm' } });
  assert.equal(await secondsToEnd(bench, bench.kill(30)), 30);
  assert.deepEqual([bench.container()?.exitCode, bench.container()?.reason], [137, 'Error']);
});

test('no grace still leaves two seconds', async () => {
  const bench = await runningBench({ simulate: { app: 'ignore-sigterm' } });
  assert.equal(await secondsToEnd(bench, bench.kill(0)), 2);
});

test('containers end in parallel', async () => {
  const bench = await runningBench({
    simulate: { pod: 'stop=5s' },
    spec: { containers: [plainContainer('a'), plainContainer('b'), plainContainer('c')] },
  });
  assert.equal(await secondsToEnd(bench, bench.kill(30)), 5);
});

test('sidecars end after the ordinary containers, within what is left of the grace', async () => {
  const bench = await runningBench({
    simulate: { pod: 'stop=2s', outer: 'ignore-sigterm' },
    spec: {
      initContainers: [
        plainContainer('outer', { restartPolicy: 'Always' }),
        plainContainer('inner', { restartPolicy: 'Always' }),
      ],
    },
  });
  assert.equal(await secondsToEnd(bench, bench.kill(10)), 10);
  const endOf = (name: string): number => bench.container(name)?.finishedAtMs ?? Number.NaN;
  assert.equal(endOf('inner') - endOf('app'), 2000);
  assert.equal(endOf('outer') - endOf('app'), 8000);
});

test('a pod in the middle of its start is ended too', async () => {
  const bench = createPodBench({ simulate: { app: 'start=20s' } });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(bench.container()?.state, 'created');
  await secondsToEnd(bench, bench.kill(30));
  assert.equal(bench.runtime.listContainers().filter(({ state }) => state !== 'exited').length, 0);
});
