/** Probes: thresholds, gating by startup, restarts, readiness, cost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { PodBench } from '../../../support/pod-bench.ts';

const HTTP = { httpGet: { path: '/healthz', port: 8080 } };

function benchWith(probes: JsonObject, simulate = ''): PodBench {
  return createPodBench({
    images: ['registry.example/app:1.0'],
    simulate: { app: `start=0s${simulate === '' ? '' : `, ${simulate}`}` },
    spec: { containers: [plainContainer('app', probes)] },
  });
}

function isReady(bench: PodBench): boolean {
  const container = bench.container();
  return container !== undefined && bench.probes.isReady(bench.pod.metadata.uid, container);
}

test('a container without probes is ready and started, and costs no timer', async () => {
  const bench = benchWith({});
  bench.start();
  await bench.clock.advance(2000);
  const container = bench.container();
  assert.ok(container);
  assert.equal(bench.probes.isReady('0000-1111', container), true);
  assert.equal(bench.probes.isStarted('0000-1111', container), true);
  assert.equal(bench.clock.pendingTimers, 0);
});

test('readiness follows the probe both ways, with its thresholds', async () => {
  const bench = benchWith(
    { readinessProbe: { ...HTTP, periodSeconds: 1, successThreshold: 2, failureThreshold: 3 } },
    'ready-after=4s, unready-at=20s',
  );
  bench.start();
  await bench.clock.advance(4500);
  assert.equal(isReady(bench), false);
  await bench.clock.advance(1000);
  assert.equal(isReady(bench), true);
  await bench.clock.advance(15_000);
  assert.equal(isReady(bench), true, 'two failures are fewer than three');
  await bench.clock.advance(2000);
  assert.equal(isReady(bench), false);
  assert.deepEqual(
    bench.probeResults.map(({ kind, isSuccess }) => [kind, isSuccess]),
    [
      ['readiness', false],
      ['readiness', true],
      ['readiness', false],
    ],
  );
  assert.equal(bench.container()?.config.attempt, 0, 'readiness restarts nothing');
});

test('a failed probe is told as Unhealthy with what the handler saw', async () => {
  for (const [handler, simulate, message] of [
    [HTTP, 'ready-after=1h', 'Readiness probe failed: HTTP probe failed with statuscode: 503'],
    [{ exec: { command: ['x'] } }, 'ready-after=1h', 'Readiness probe failed: '],
    [
      { grpc: { port: 9000 } },
      'ready-after=1h',
      'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")',
    ],
  ] as const) {
    const bench = benchWith({ readinessProbe: { ...handler, periodSeconds: 1 } }, simulate);
    bench.start();
    await bench.clock.advance(1000);
    const event = bench.events.find(({ reason }) => reason === 'Unhealthy');
    assert.deepEqual([event?.type, event?.message], ['Warning', message]);
    assert.ok(bench.logLines().includes('probe'));
  }
});

test('an answer that takes longer than timeoutSeconds is a failure', async () => {
  const bench = benchWith(
    { readinessProbe: { ...HTTP, periodSeconds: 5, timeoutSeconds: 2 } },
    'probe=3s',
  );
  bench.start();
  await bench.clock.advance(4000);
  const event = bench.events.find(({ reason }) => reason === 'Unhealthy');
  assert.equal(event?.message, 'Readiness probe failed: timed out after 2s');
  assert.equal(isReady(bench), false);
});

test('the initial delay passes before the first probe', async () => {
  const bench = benchWith({
    readinessProbe: { ...HTTP, initialDelaySeconds: 5, periodSeconds: 1 },
  });
  bench.start();
  await bench.clock.advance(4900);
  assert.equal(isReady(bench), false);
  await bench.clock.advance(500);
  assert.equal(isReady(bench), true);
});

test('liveness and readiness wait for startup, and need not wait for the next sync', async () => {
  const bench = benchWith(
    {
      startupProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 30 },
      livenessProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 1 },
      readinessProbe: { ...HTTP, periodSeconds: 1 },
    },
    'startup-after=6s, liveness-fails-at=0s, runs=1',
  );
  bench.start();
  await bench.clock.advance(5500);
  assert.equal(bench.probeResults.length, 0, 'a startup probe below its threshold is no verdict');
  await bench.clock.advance(1500);
  assert.deepEqual(
    bench.probeResults.slice(0, 2).map(({ kind, isSuccess }) => [kind, isSuccess]),
    [
      ['startup', true],
      ['liveness', false],
    ],
  );
});

test('a failed liveness probe restarts the container, which recovers', async () => {
  const bench = benchWith(
    { livenessProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 3 } },
    'liveness-fails-at=5s, runs=1',
  );
  bench.start();
  await bench.clock.advance(30_000);
  const told = bench.events.filter(({ reason }) => ['Unhealthy', 'Killing'].includes(reason));
  assert.deepEqual(
    told.map(({ reason, message }) => `${reason}: ${message}`),
    [
      'Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 503',
      'Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 503',
      'Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 503',
      'Killing: Container app failed liveness probe, will be restarted',
    ],
  );
  assert.equal(bench.container()?.config.attempt, 1);
  assert.equal(bench.container()?.state, 'running');
  assert.equal(bench.probes.failures(bench.pod.metadata.uid).size, 0);
});

test('a failed startup probe restarts the container', async () => {
  const bench = benchWith(
    { startupProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 3 } },
    'startup-after=1h',
  );
  bench.start();
  await bench.clock.advance(4000);
  const killing = bench.events.find(({ reason }) => reason === 'Killing');
  assert.equal(killing?.message, 'Container app failed startup probe, will be restarted');
});

test('under restartPolicy Never a failed liveness probe ends the container, and with the last one the pod', async () => {
  const bench = createPodBench({
    simulate: { app: 'liveness-fails-at=2s' },
    spec: {
      restartPolicy: 'Never',
      containers: [
        plainContainer('app', {
          livenessProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    },
  });
  bench.start();
  await bench.clock.advance(60_000);
  const killing = bench.events.find(({ reason }) => reason === 'Killing');
  assert.equal(killing?.message, 'Stopping container app');
  assert.equal(bench.container()?.state, 'exited');
  assert.equal(bench.container()?.config.attempt, 0);
});

test('a pod that is being deleted keeps only its readiness probes, and none after it is removed', async () => {
  const bench = benchWith(
    {
      livenessProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 1 },
      readinessProbe: { ...HTTP, periodSeconds: 1, failureThreshold: 1 },
    },
    'liveness-fails-at=10s, unready-at=10s',
  );
  bench.start();
  await bench.clock.advance(3000);
  const { uid } = bench.pod.metadata;
  const metadata = { ...bench.pod.metadata, deletionTimestamp: '2026-01-01T00:00:03Z' };
  bench.probes.update({ ...bench.pod, metadata }, bench.podRuntime.status(uid));
  await bench.clock.advance(10_000);
  assert.equal(bench.probes.failures(uid).size, 0);
  assert.equal(isReady(bench), false);
  bench.probes.remove(uid);
  assert.equal(bench.clock.pendingTimers, 0);
});
