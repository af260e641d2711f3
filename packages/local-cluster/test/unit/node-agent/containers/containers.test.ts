/** Ordinary containers: configuration, create, start, restart policies, changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';

test('missing configuration is CreateContainerConfigError until it is there', async () => {
  const bench = createPodBench({
    configErrors: new Map([['app', 'configmap "settings" not found']]),
  });
  bench.start();
  await bench.clock.advance(2000);
  assert.equal(bench.waitingReason(), 'CreateContainerConfigError');
  assert.equal(bench.results.at(-1)?.waiting.get('app')?.message, 'configmap "settings" not found');
  const failed = bench.events.find(({ reason }) => reason === 'Failed');
  assert.equal(failed?.message, 'Error: configmap "settings" not found');
  assert.equal(bench.container(), undefined);
  bench.setConfigErrors(new Map());
  await bench.clock.advance(15_000);
  assert.equal(bench.container()?.state, 'running');
  assert.equal(bench.container()?.config.attempt, 0);
  assert.equal(bench.results.at(-1)?.waiting.size, 0);
});

test('a container that cannot be created is CreateContainerError and tried again', async () => {
  const bench = createPodBench({ simulate: { app: 'create-fails=1' } });
  bench.start();
  await bench.clock.advanceUntil(() => bench.results.length > 0, { withinMs: 5000 });
  assert.equal(bench.results[0]?.waiting.get('app')?.reason, 'CreateContainerError');
  assert.deepEqual(bench.results[0]?.failures, [
    {
      action: 'StartContainer',
      message:
        'failed to "StartContainer" for "app" with CreateContainerError: "failed to create containerd container: simulated failure"',
    },
  ]);
  await bench.clock.advance(15_000);
  assert.equal(bench.container()?.state, 'running');
});

test('a container that cannot be started is RunContainerError, then backs off as a crash', async () => {
  const bench = createPodBench({ simulate: { app: 'start-fails=2' } });
  bench.start();
  await bench.clock.advanceUntil(() => bench.results.length > 0, { withinMs: 5000 });
  assert.equal(bench.results[0]?.waiting.get('app')?.reason, 'RunContainerError');
  const [dead] = bench.podRuntime
    .status(bench.pod.metadata.uid)
    .containers.filter(({ state }) => state === 'exited');
  assert.deepEqual([dead?.exitCode, dead?.reason], [128, 'StartError']);
  await bench.clock.advance(2000);
  assert.equal(bench.waitingReason(), 'CrashLoopBackOff');
  await bench.clock.advance(20_000);
  assert.equal(bench.container()?.state, 'running');
  assert.equal(bench.container()?.config.attempt, 2);
});

test('one container that does not start does not hold up another', async () => {
  const bench = createPodBench({
    simulate: { bad: 'create-fails' },
    spec: { containers: [plainContainer('bad'), plainContainer('good')] },
  });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(bench.container('good')?.state, 'running');
  assert.equal(bench.waitingReason('bad'), 'CreateContainerError');
});

test('restartPolicy decides whether an ended container is started again', async () => {
  for (const [restartPolicy, exitCode, attempts] of [
    ['Always', 0, 1],
    ['Always', 1, 1],
    ['OnFailure', 0, 0],
    ['OnFailure', 1, 1],
    ['Never', 0, 0],
    ['Never', 1, 0],
  ] as const) {
    const bench = createPodBench({
      simulate: { app: `exit=${exitCode}@1s, runs=1` },
      spec: { restartPolicy },
    });
    bench.start();
    await bench.clock.advance(10_000);
    const label = `${restartPolicy} ${exitCode}`;
    assert.equal(bench.container()?.config.attempt, attempts, label);
    assert.equal(bench.container()?.state, attempts === 1 ? 'running' : 'exited', label);
  }
});

test('a container killed for memory is OOMKilled with code 137', async () => {
  const bench = createPodBench({ simulate: { app: 'oom@2s' }, spec: { restartPolicy: 'Never' } });
  bench.start();
  await bench.clock.advance(5000);
  assert.equal(bench.container()?.reason, 'OOMKilled');
  assert.equal(bench.container()?.exitCode, 137);
});

test('a changed image replaces the running container', async () => {
  const bench = createPodBench();
  bench.start();
  await bench.clock.advance(3000);
  bench.update({
    ...bench.pod,
    spec: { ...bench.pod.spec, containers: [{ name: 'app', image: 'registry.example/app:2.0' }] },
  });
  await bench.clock.advance(5000);
  const killing = bench.events.find(({ reason }) => reason === 'Killing');
  assert.equal(killing?.message, 'Container app definition changed, will be restarted');
  assert.equal(bench.container()?.config.image, 'registry.example/app:2.0');
  assert.equal(bench.container()?.config.attempt, 1);
});

test('of dead instances the newest is kept, for lastState', async () => {
  const bench = createPodBench({ simulate: { app: 'exit=7@1s, runs=3' } });
  bench.start();
  await bench.clock.advance(5 * 60_000);
  const { containers } = bench.podRuntime.status(bench.pod.metadata.uid);
  assert.deepEqual(
    containers.map(({ state, config, exitCode }) => [state, config.attempt, exitCode]),
    [
      ['running', 3, undefined],
      ['exited', 2, 7],
    ],
  );
});

test('an image name that asks in vain is told with the container, once', async () => {
  const bench = createPodBench({
    spec: {
      containers: [plainContainer('app', { image: 'registry.example/app:1-simulate-nonsense' })],
    },
  });
  bench.start();
  await bench.clock.advance(3000);
  const told = bench.events.filter(({ reason }) => reason === 'InvalidSimulation');
  assert.deepEqual(
    told.map(({ message }) => message),
    [
      'The simulation ignores image registry.example/app:1-simulate-nonsense: cannot read "nonsense"',
    ],
  );
  assert.equal(bench.container()?.state, 'running');
});
