/** The simulated runtime's verbs: what they refuse, what they repeat, and what is left when the power goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeError } from '../../../src/runtime/cri.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeEvent } from '../../../src/runtime/cri.ts';
import { createPodBench } from '../../support/pod-bench.ts';
import type { PodBench } from '../../support/pod-bench.ts';

const SANDBOX = {
  podUid: 'uid-1',
  namespace: 'ops',
  name: 'agent',
  attempt: 0,
  isHostNetwork: false,
  labels: {},
  annotations: {},
  cgroupParent: '/kubepods',
};
const CONTAINER = {
  name: 'app',
  attempt: 0,
  image: 'registry.example/app:1',
  specHash: 'x',
  isAwaited: false,
};

async function runOne(
  { runtime, clock }: PodBench,
  annotations: Readonly<Record<string, string>> = {},
): Promise<RuntimeContainer> {
  const sandboxMade = runtime.runPodSandbox({ ...SANDBOX, annotations });
  await clock.advance(200);
  const { id } = await sandboxMade;
  const container = await runtime.createContainer(id, CONTAINER);
  const started = runtime.startContainer(container.id);
  await clock.advance(200);
  await started;
  return container;
}

function stateOf(runtime: ContainerRuntime, id: string): RuntimeContainer['state'] | undefined {
  return runtime.listContainers().find((one) => one.id === id)?.state;
}

function refusal(code: RuntimeError['code']): (error: unknown) => boolean {
  return (error) => error instanceof RuntimeError && error.code === code;
}

test('the start and the end of a container are told as events', async () => {
  const bench = createPodBench();
  const told: string[] = [];
  const cancel = bench.runtime.onEvent(({ type, id }: RuntimeEvent) => {
    told.push(`${type} ${id}`);
  });
  const { id } = await runOne(bench);
  const stopped = bench.runtime.stopContainer(id, 30);
  await bench.clock.advance(1000);
  await stopped;
  assert.deepEqual(told, [`started ${id}`, `stopped ${id}`]);
  const [sandbox] = bench.runtime.listPodSandboxes();
  assert.ok(sandbox);
  await bench.runtime.removePodSandbox(sandbox.id);
  assert.equal(told.length, 2);
  cancel();
  assert.deepEqual(bench.runtime.listContainers(), []);
});

test('verbs on what is not there: stop and remove are idempotent, create and start refuse', async () => {
  const { runtime } = createPodBench();
  await runtime.stopPodSandbox('none');
  await runtime.removePodSandbox('none');
  await runtime.stopContainer('none', 30);
  await runtime.removeContainer('none');
  await assert.rejects(runtime.createContainer('none', CONTAINER), refusal('NotFound'));
  await assert.rejects(runtime.startContainer('none'), refusal('NotFound'));
});

test('a container starts once', async () => {
  const bench = createPodBench();
  const { id } = await runOne(bench);
  await assert.rejects(bench.runtime.startContainer(id), refusal('Start'));
  assert.equal(stateOf(bench.runtime, id), 'running');
});

test('a container that is stopped while it starts never runs', async () => {
  const bench = createPodBench();
  const sandboxMade = bench.runtime.runPodSandbox(SANDBOX);
  await bench.clock.advance(200);
  const { id: sandboxId } = await sandboxMade;
  const { id } = await bench.runtime.createContainer(sandboxId, CONTAINER);
  const started = assert.rejects(bench.runtime.startContainer(id), refusal('Start'));
  await bench.runtime.stopContainer(id, 30);
  await bench.clock.advance(1000);
  await started;
  assert.equal(stateOf(bench.runtime, id), 'exited');
});

test('stopping a sandbox kills what runs in it, at once', async () => {
  const bench = createPodBench();
  const { id } = await runOne(bench, { 'simulate.rollcall.dev/app': 'ignore-sigterm' });
  const [sandbox] = bench.runtime.listPodSandboxes('uid-1');
  assert.ok(sandbox);
  await bench.runtime.stopPodSandbox(sandbox.id);
  assert.equal(stateOf(bench.runtime, id), 'exited');
  await assert.rejects(bench.runtime.createContainer(sandbox.id, CONTAINER), refusal('NotFound'));
});

test('a second stop with a shorter grace brings the SIGKILL forward, a longer one does not put it off', async () => {
  const bench = createPodBench();
  const { id } = await runOne(bench, { 'simulate.rollcall.dev/app': 'ignore-sigterm' });
  const stops = [bench.runtime.stopContainer(id, 60)];
  await bench.clock.advance(1000);
  stops.push(bench.runtime.stopContainer(id, 5), bench.runtime.stopContainer(id, 600));
  await bench.clock.advance(4900);
  assert.equal(stateOf(bench.runtime, id), 'running');
  await bench.clock.advance(200);
  await Promise.all(stops);
  assert.equal(stateOf(bench.runtime, id), 'exited');
  assert.equal(bench.clock.pendingTimers, 0);
});

test('when the power goes everything ends, nothing is told, and all that waits is refused', async () => {
  const bench = createPodBench();
  const { runtime, clock } = bench;
  await runOne(bench, { 'simulate.rollcall.dev/app': 'exit=1@1h' });
  const told: RuntimeEvent[] = [];
  runtime.onEvent((event) => told.push(event));
  const pulled = assert.rejects(
    runtime.pullImage({ image: 'registry.example/b:1', podUid: 'uid-1', containerName: 'b' }),
    refusal('Unavailable'),
  );
  const sandbox = assert.rejects(runtime.runPodSandbox(SANDBOX), refusal('Unavailable'));
  runtime.powerOff();
  await Promise.all([pulled, sandbox]);
  assert.deepEqual(runtime.listContainers(), []);
  assert.deepEqual(runtime.listPodSandboxes(), []);
  assert.equal(runtime.status().isRuntimeReady, false);
  assert.equal(clock.pendingTimers, 0);
  assert.deepEqual(told, []);
  await assert.rejects(runtime.runPodSandbox(SANDBOX), refusal('Unavailable'));
});

test('a stop that waits for its grace is over when the power goes', async () => {
  const bench = createPodBench();
  const { id } = await runOne(bench, { 'simulate.rollcall.dev/app': 'ignore-sigterm' });
  const stopped = bench.runtime.stopContainer(id, 600);
  bench.runtime.powerOff();
  await stopped;
  assert.equal(bench.clock.pendingTimers, 0);
});

test('images are there once pulled, under the name with its tag', async () => {
  const { runtime, clock } = createPodBench({ images: ['registry.example/kept'] });
  assert.equal(runtime.hasImage('registry.example/kept:latest'), true);
  assert.equal(runtime.hasImage('registry.example/app'), false);
  const pulled = runtime.pullImage({
    image: 'registry.example/app',
    podUid: 'x',
    containerName: 'a',
  });
  await clock.advance(1000);
  const { imageId, sizeBytes, pullMs } = await pulled;
  assert.match(imageId, /^registry\.example\/app@sha256:[0-9a-f]{64}$/);
  assert.ok(sizeBytes >= 5_000_000 && sizeBytes <= 250_000_000, String(sizeBytes));
  assert.ok(pullMs >= 200 && pullMs <= 900, String(pullMs));
  assert.equal(runtime.hasImage('registry.example/app:latest'), true);
});

test('the same seed gives the same ids and times', async () => {
  const ids = await Promise.all(
    [7, 7, 8].map(async (seed) => (await runOne(createPodBench({ seed }))).id),
  );
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});
