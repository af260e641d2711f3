/** The pod network of a machine: preinstalled, or brought by a DaemonSet's pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeError } from '../../../../src/runtime/cri.ts';
import type { SandboxConfig } from '../../../../src/runtime/cri.ts';
import { createPodBench } from '../../../support/pod-bench.ts';

const PROVIDER = { 'rollcall.dev/provides': 'pod-network' };

const OTHER_POD: SandboxConfig = {
  podUid: 'other',
  namespace: 'ops',
  name: 'other',
  attempt: 0,
  isHostNetwork: false,
  labels: {},
  annotations: {},
  cgroupParent: '/kubepods',
};

test('a preinstalled network is ready at once', () => {
  const bench = createPodBench();
  assert.deepEqual(bench.runtime.status(), { isRuntimeReady: true, isNetworkReady: true });
});

test('a network that a DaemonSet brings is ready a second after its pod is, and stays', async () => {
  const bench = createPodBench({
    machine: { network: 'daemon' },
    annotations: PROVIDER,
    simulate: { app: 'start=0s, ready-after=3s' },
    images: ['registry.example/app:1.0'],
    spec: { hostNetwork: true },
  });
  let changes = 0;
  bench.runtime.onStatusChange(() => {
    changes += 1;
  });
  bench.start();
  await bench.clock.advance(3900);
  assert.equal(bench.runtime.status().isNetworkReady, false);
  await bench.clock.advance(500);
  assert.equal(bench.runtime.status().isNetworkReady, true);
  assert.equal(changes, 1);
  const killed = bench.kill(0);
  await bench.clock.advance(5000);
  await killed;
  assert.equal(bench.runtime.status().isNetworkReady, true, 'the configuration stays');
});

test('a network pod that ends too early configures nothing', async () => {
  const bench = createPodBench({
    machine: { network: 'daemon' },
    annotations: PROVIDER,
    simulate: { app: 'exit=1@900ms' },
    spec: { hostNetwork: true },
  });
  bench.start();
  await bench.clock.advance(60_000);
  assert.equal(bench.runtime.status().isNetworkReady, false);
});

test('without a network only hostNetwork pods get a sandbox', async () => {
  const bench = createPodBench({ machine: { network: 'daemon' } });
  const refused = assert.rejects(
    bench.runtime.runPodSandbox(OTHER_POD),
    (error) =>
      error instanceof RuntimeError &&
      error.code === 'Network' &&
      error.message.includes('cni plugin not initialized'),
  );
  await bench.clock.advance(1000);
  await refused;
  const made = bench.runtime.runPodSandbox({ ...OTHER_POD, isHostNetwork: true });
  await bench.clock.advance(1000);
  assert.equal((await made).state, 'ready');
});

test('addresses differ, are given back, and run out at 253', async () => {
  const { runtime, clock } = createPodBench();
  const run = async (podUid: string): Promise<{ id: string; podIp?: string }> => {
    const made = runtime.runPodSandbox({ ...OTHER_POD, podUid });
    await clock.advance(100);
    return made;
  };
  const sandboxes = [];
  for (let index = 0; index < 253; index += 1) sandboxes.push(await run(`pod-${index}`));
  assert.equal(new Set(sandboxes.map(({ podIp }) => podIp)).size, 253);
  const refused = assert.rejects(
    runtime.runPodSandbox({ ...OTHER_POD, podUid: 'one-too-many' }),
    /no IP addresses available/,
  );
  await clock.advance(100);
  await refused;
  const [first] = sandboxes;
  assert.ok(first);
  await runtime.stopPodSandbox(first.id);
  assert.equal((await run('next')).podIp, first.podIp);
});
