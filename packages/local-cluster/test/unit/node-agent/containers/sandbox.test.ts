/** The sandbox stage: created, networked, retried, replaced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAddress, podNetwork } from '../../../../src/runtime/pod-network.ts';
import { createPodBench } from '../../../support/pod-bench.ts';

test('a new pod gets a sandbox with an address of its machine before any container', async () => {
  const bench = createPodBench();
  bench.start();
  await bench.clock.advance(5000);
  const { sandboxes, containers } = bench.podRuntime.status(bench.pod.metadata.uid);
  assert.equal(sandboxes.length, 1);
  assert.match(sandboxes[0]?.id ?? '', /^[0-9a-f]{64}$/);
  assert.equal(sandboxes[0]?.podIp, podNetwork('node-1').address(0));
  assert.equal(containers[0]?.state, 'running');
  assert.deepEqual(bench.reasons(), ['Pulling', 'Pulled', 'Created', 'Started']);
});

test('the stages log their lines in order', async () => {
  const bench = createPodBench();
  bench.start();
  await bench.clock.advance(5000);
  assert.deepEqual(bench.logLines().slice(0, 7), [
    'pod actions',
    'sandbox created',
    'CNI',
    'pod IP',
    'image pull',
    'container created',
    'container started',
  ]);
});

test('a hostNetwork pod has the address of its node', async () => {
  const bench = createPodBench({ spec: { hostNetwork: true } });
  bench.start();
  await bench.clock.advance(5000);
  const [sandbox] = bench.podRuntime.status(bench.pod.metadata.uid).sandboxes;
  assert.equal(sandbox?.podIp, nodeAddress('node-1'));
});

test('a sandbox that fails is told as FailedCreatePodSandBox and made at a later sync', async () => {
  const bench = createPodBench({ simulate: { pod: 'sandbox-fails=2' } });
  bench.start();
  await bench.clock.advance(1000);
  assert.deepEqual(bench.reasons(), ['FailedCreatePodSandBox']);
  assert.equal(bench.events[0]?.type, 'Warning');
  assert.match(
    bench.events[0]?.message ?? '',
    /^Failed to create pod sandbox: rpc error: code = Unknown/,
  );
  assert.equal(bench.results[0]?.failures[0]?.action, 'CreatePodSandbox');
  assert.equal(bench.podRuntime.status(bench.pod.metadata.uid).containers.length, 0);
  await bench.clock.advance(30_000);
  assert.deepEqual(bench.reasons().slice(0, 3), [
    'FailedCreatePodSandBox',
    'FailedCreatePodSandBox',
    'Pulling',
  ]);
  assert.equal(bench.container()?.state, 'running');
});

test('a network that cannot be set up leaves no sandbox behind, and is tried again', async () => {
  const bench = createPodBench({ simulate: { pod: 'network-fails=1' } });
  bench.start();
  await bench.clock.advance(1000);
  assert.match(bench.events[0]?.message ?? '', /failed to setup network for sandbox/);
  assert.deepEqual(bench.runtime.listPodSandboxes(), []);
  assert.equal(
    bench.log.lines.find(({ message }) => message === 'CNI')?.fields['podIp'],
    undefined,
  );
  await bench.clock.advance(15_000);
  assert.equal(bench.container()?.state, 'running');
  assert.equal(
    bench.podRuntime.status(bench.pod.metadata.uid).sandboxes[0]?.podIp,
    podNetwork('node-1').address(0),
  );
});

test('a sandbox that died is replaced, its init containers run again', async () => {
  const bench = createPodBench({
    spec: { initContainers: [{ name: 'prepare', image: 'registry.example/completes:1' }] },
  });
  bench.start();
  await bench.clock.advance(10_000);
  const { uid } = bench.pod.metadata;
  const [first] = bench.podRuntime.status(uid).sandboxes;
  assert.ok(first);
  assert.equal(bench.container()?.state, 'running');
  await bench.runtime.stopPodSandbox(first.id);
  await bench.clock.advance(30_000);
  const { sandboxes } = bench.podRuntime.status(uid);
  assert.equal(sandboxes[0]?.config.attempt, 1);
  assert.equal(sandboxes.filter(({ state }) => state === 'ready').length, 1);
  assert.ok(bench.reasons().includes('SandboxChanged'));
  assert.equal(bench.container()?.state, 'running');
  assert.equal(bench.container()?.config.attempt, 1);
  const startedInit = bench.events.filter(
    ({ reason, fieldPath }) => reason === 'Started' && fieldPath === 'spec.initContainers{prepare}',
  );
  assert.equal(startedInit.length, 2);
});

test('a request that cannot be read is told once, and the pod runs normally', async () => {
  const bench = createPodBench({ simulate: { app: 'pull=fast' } });
  bench.start();
  await bench.clock.advance(5000);
  const told = bench.events.filter(({ reason }) => reason === 'InvalidSimulation');
  assert.equal(told.length, 1);
  assert.equal(
    told[0]?.message,
    'The simulation ignores annotation simulate.rollcall.dev/app: pull: "fast" is no duration such as 500ms or 3s',
  );
  assert.equal(bench.container()?.state, 'running');
});

test('a pod of one container takes at most four timers and leaves none', async () => {
  const bench = createPodBench();
  let timers = 0;
  const after = bench.clock.after.bind(bench.clock);
  bench.clock.after = (delayMs, callback) => {
    timers += 1;
    return after(delayMs, callback);
  };
  bench.start();
  await bench.clock.advance(5000);
  assert.equal(bench.container()?.state, 'running');
  assert.ok(timers <= 4, `${timers} timers`);
  assert.equal(bench.clock.pendingTimers, 0);
});
