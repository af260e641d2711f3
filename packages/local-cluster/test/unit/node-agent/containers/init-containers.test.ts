/** Init containers one after another, sidecars that stay, and what gates what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { PodBench } from '../../../support/pod-bench.ts';

function startsOf(bench: PodBench): readonly string[] {
  return bench.events
    .filter(({ reason }) => reason === 'Started')
    .map(({ fieldPath = '' }) => fieldPath.replace(/^spec\./, ''));
}

test('init containers run one after another, then the ordinary ones', async () => {
  const bench = createPodBench({
    simulate: { first: 'exit=0@2s', second: 'exit=0@3s' },
    spec: {
      initContainers: [plainContainer('first'), plainContainer('second')],
      containers: [plainContainer('app'), plainContainer('helper')],
    },
  });
  bench.start();
  await bench.clock.advance(2000);
  assert.deepEqual(startsOf(bench), ['initContainers{first}']);
  await bench.clock.advance(2500);
  assert.deepEqual(startsOf(bench), ['initContainers{first}', 'initContainers{second}']);
  await bench.clock.advance(5000);
  assert.deepEqual(startsOf(bench), [
    'initContainers{first}',
    'initContainers{second}',
    'containers{app}',
    'containers{helper}',
  ]);
});

test('an init container that fails is tried again with back-off, and nothing else starts before', async () => {
  const bench = createPodBench({
    simulate: { prepare: 'exit=1@1s, runs=2', app: 'start=10ms' },
    spec: { initContainers: [plainContainer('prepare')], restartPolicy: 'Always' },
  });
  bench.start();
  await bench.clock.advance(4000);
  assert.equal(bench.waitingReason('prepare'), 'CrashLoopBackOff');
  assert.equal(bench.container('app'), undefined);
  assert.equal(bench.container('prepare')?.config.attempt, 1);
  await bench.clock.advance(20_000);
  assert.equal(bench.container('prepare')?.config.attempt, 2);
  assert.equal(bench.container('prepare')?.exitCode, 0, 'the third run is not asked to fail');
  assert.equal(bench.container('app')?.state, 'running');
});

test('an init container of which nothing is asked ends with 0, a sidecar of which nothing is asked runs on', async () => {
  const sidecar = plainContainer('proxy', { restartPolicy: 'Always' });
  const bench = createPodBench({
    spec: { initContainers: [plainContainer('copy'), sidecar, plainContainer('configure')] },
  });
  bench.start();
  await bench.clock.advance(10_000);
  assert.deepEqual(startsOf(bench), [
    'initContainers{copy}',
    'initContainers{proxy}',
    'initContainers{configure}',
    'containers{app}',
  ]);
  assert.deepEqual(
    ['copy', 'proxy', 'configure', 'app'].map((name) => bench.container(name)?.state),
    ['exited', 'running', 'exited', 'running'],
  );
  assert.equal(bench.container('copy')?.reason, 'Completed');
});

for (const [asked, options] of [
  ['by annotation', { simulate: { copy: 'exit=never' } }],
  ['by image', { image: 'registry.example/copy:1-simulate-exit-never' }],
] as const) {
  test(`an init container that is asked ${asked} never to exit holds up its pod`, async () => {
    const { image, simulate } = { image: 'registry.example/copy:1', simulate: {}, ...options };
    const bench = createPodBench({ simulate, spec: { initContainers: [{ name: 'copy', image }] } });
    bench.start();
    await bench.clock.advance(3_600_000);
    assert.equal(bench.container('copy')?.state, 'running');
    assert.equal(bench.container('app'), undefined);
  });
}

test('an init container that fails under restartPolicy Never ends the pod', async () => {
  const bench = createPodBench({
    simulate: { prepare: 'exit=3@1s' },
    spec: { initContainers: [plainContainer('prepare')], restartPolicy: 'Never' },
  });
  bench.start();
  await bench.clock.advance(60_000);
  assert.deepEqual(startsOf(bench), ['initContainers{prepare}']);
  const { sandboxes, containers } = bench.podRuntime.status(bench.pod.metadata.uid);
  assert.deepEqual(
    sandboxes.map(({ state }) => state),
    ['notReady'],
  );
  assert.deepEqual(
    containers.map(({ exitCode }) => exitCode),
    [3],
  );
});

test('a sidecar starts before what follows it and stays running', async () => {
  const bench = createPodBench({
    simulate: { prepare: 'exit=0@1s' },
    spec: {
      initContainers: [
        plainContainer('proxy', { restartPolicy: 'Always' }),
        plainContainer('prepare'),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(10_000);
  assert.deepEqual(startsOf(bench), [
    'initContainers{proxy}',
    'initContainers{prepare}',
    'containers{app}',
  ]);
  assert.equal(bench.container('proxy')?.state, 'running');
  assert.equal(bench.container('app')?.state, 'running');
});

test('a sidecar with a startup probe holds up what follows until it has succeeded', async () => {
  const bench = createPodBench({
    simulate: { proxy: 'startup-after=5s' },
    spec: {
      initContainers: [
        plainContainer('proxy', {
          restartPolicy: 'Always',
          startupProbe: { periodSeconds: 1, failureThreshold: 30, exec: { command: ['true'] } },
        }),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(5000);
  assert.deepEqual(startsOf(bench), ['initContainers{proxy}']);
  await bench.clock.advance(5000);
  assert.deepEqual(startsOf(bench), ['initContainers{proxy}', 'containers{app}']);
});

test('a sidecar whose startup probe fails for good is restarted', async () => {
  const bench = createPodBench({
    simulate: { proxy: 'startup-after=1h' },
    spec: {
      initContainers: [
        plainContainer('proxy', {
          restartPolicy: 'Always',
          startupProbe: { periodSeconds: 1, failureThreshold: 3, exec: { command: ['true'] } },
        }),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(6000);
  const killing = bench.events.find(({ reason }) => reason === 'Killing');
  assert.equal(killing?.message, 'Container proxy failed startup probe, will be restarted');
  assert.equal(bench.container('proxy')?.config.attempt, 1);
  assert.equal(bench.container('app'), undefined);
});

test('a sidecar that ends is restarted while the pod runs, and no init container runs again', async () => {
  const bench = createPodBench({
    simulate: { proxy: 'exit=1@5s, runs=1', prepare: 'exit=0@1s' },
    spec: {
      initContainers: [
        plainContainer('prepare'),
        plainContainer('proxy', { restartPolicy: 'Always' }),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(30_000);
  assert.deepEqual(startsOf(bench), [
    'initContainers{prepare}',
    'initContainers{proxy}',
    'containers{app}',
    'initContainers{proxy}',
  ]);
  assert.equal(bench.container('proxy')?.state, 'running');
});

test('when all ordinary containers have ended for good, the sidecars go', async () => {
  const bench = createPodBench({
    simulate: { app: 'exit=0@2s' },
    spec: {
      restartPolicy: 'OnFailure',
      initContainers: [plainContainer('proxy', { restartPolicy: 'Always' })],
    },
  });
  bench.start();
  await bench.clock.advance(60_000);
  assert.equal(bench.container('proxy')?.state, 'exited');
  assert.equal(bench.container('app')?.exitCode, 0);
  assert.deepEqual(startsOf(bench), ['initContainers{proxy}', 'containers{app}']);
});
