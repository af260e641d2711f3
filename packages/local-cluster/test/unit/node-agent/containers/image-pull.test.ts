/** The image stage: pull policies, texts of the events, back-off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { BenchEvent } from '../../../support/pod-bench.ts';

const IMAGE = 'registry.example/app:1.0';

function texts(events: readonly BenchEvent[]): readonly string[] {
  return events.map(({ reason, message }) => `${reason}: ${message}`);
}

test('a pull tells how long it took and how large the image is', async () => {
  const bench = createPodBench({ simulate: { app: 'pull=3s' } });
  bench.start();
  await bench.clock.advance(2900);
  assert.deepEqual(texts(bench.events), [`Pulling: Pulling image "${IMAGE}"`]);
  await bench.clock.advance(1000);
  assert.match(
    texts(bench.events)[1] ?? '',
    /^Pulled: Successfully pulled image "registry.example\/app:1.0" in 3s \(3s including waiting\)\. Image size: \d+ bytes\.$/,
  );
  assert.equal(bench.events[1]?.fieldPath, 'spec.containers{app}');
});

test('IfNotPresent does not pull what is there; Always asks again', async () => {
  for (const [imagePullPolicy, reasons] of [
    ['IfNotPresent', ['Pulled', 'Created', 'Started']],
    ['Always', ['Pulling', 'Pulled', 'Created', 'Started']],
  ] as const) {
    const bench = createPodBench({
      images: [IMAGE],
      spec: { containers: [plainContainer('app', { imagePullPolicy })] },
    });
    bench.start();
    await bench.clock.advance(3000);
    assert.deepEqual(bench.reasons(), reasons);
  }
});

test('an image that is there is told with the text of the release', async () => {
  const bench = createPodBench({ images: [IMAGE] });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(
    texts(bench.events)[0],
    `Pulled: Container image "${IMAGE}" already present on machine and can be accessed by the pod`,
  );
});

test('Never does not pull: ErrImageNeverPull until the image is there', async () => {
  const bench = createPodBench({
    spec: { containers: [plainContainer('app', { imagePullPolicy: 'Never' })] },
  });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(bench.waitingReason(), 'ErrImageNeverPull');
  assert.deepEqual(texts(bench.events).slice(0, 2), [
    `ErrImageNeverPull: Container image "${IMAGE}" is not present with pull policy of Never`,
    'Failed: Error: ErrImageNeverPull',
  ]);
  await Promise.all([
    bench.runtime.pullImage({ image: IMAGE, podUid: 'other', containerName: 'x' }),
    bench.clock.advance(20_000),
  ]);
  assert.equal(bench.container()?.state, 'running');
});

test('a name that is no image is InvalidImageName', async () => {
  const bench = createPodBench({ spec: { containers: [{ name: 'app', image: 'Not An Image' }] } });
  bench.start();
  await bench.clock.advance(3000);
  assert.equal(bench.waitingReason(), 'InvalidImageName');
  assert.deepEqual(bench.reasons().slice(0, 2), ['InspectFailed', 'Failed']);
});

test('a failed pull is ErrImagePull, then ImagePullBackOff, and recovers after the back-off', async () => {
  const bench = createPodBench({ simulate: { app: 'pull-fails=2, pull=100ms' } });
  bench.start();
  await bench.clock.advance(1000);
  assert.deepEqual(texts(bench.events).slice(0, 3), [
    `Pulling: Pulling image "${IMAGE}"`,
    `Failed: Failed to pull image "${IMAGE}": rpc error: code = NotFound desc = failed to pull and unpack image "${IMAGE}": failed to resolve reference "${IMAGE}": ${IMAGE}: not found`,
    'Failed: Error: ErrImagePull',
  ]);
  bench.update(bench.pod);
  await bench.clock.advance(0);
  assert.equal(bench.waitingReason(), 'ImagePullBackOff');
  assert.deepEqual(texts(bench.events).slice(3, 5), [
    `BackOff: Back-off pulling image "${IMAGE}"`,
    'Failed: Error: ImagePullBackOff',
  ]);
  assert.equal(bench.events[3]?.type, 'Normal');
  assert.match(
    bench.results.at(-1)?.waiting.get('app')?.message ?? '',
    /^Back-off pulling image "[^"]+": ErrImagePull: rpc error/,
  );
  assert.deepEqual(bench.results.at(-1)?.failures, [], 'back-off is no failure');
  await bench.clock.advance(60_000);
  assert.equal(bench.container()?.state, 'running');
  const pulls = bench.events.filter(({ reason }) => reason === 'Pulling').map(({ atMs }) => atMs);
  const gapsMs = pulls.slice(1).map((atMs, index) => atMs - (pulls[index] ?? 0));
  assert.deepEqual(
    gapsMs,
    [10_100, 20_100],
    'ten seconds, then twenty, after the 100 ms of the pull',
  );
});

test('pull back-off doubles to five minutes', async () => {
  const bench = createPodBench({
    spec: { containers: [{ name: 'app', image: 'registry.example/cannot-pull:1' }] },
  });
  bench.start();
  await bench.clock.advance(30 * 60_000);
  const pulls = bench.events.filter(({ reason }) => reason === 'Pulling').map(({ atMs }) => atMs);
  const gapSeconds = pulls
    .slice(1)
    .map((atMs, index) => Math.round((atMs - (pulls[index] ?? 0)) / 1000));
  assert.deepEqual(gapSeconds.slice(0, 7), [10, 20, 40, 80, 160, 300, 300]);
});

test('two pods that want one image wait for one transfer', async () => {
  const bench = createPodBench();
  const ask = (podUid: string): Promise<{ readonly pullMs: number }> =>
    bench.runtime.pullImage({ image: IMAGE, podUid, containerName: 'app' });
  const first = ask('a');
  await bench.clock.advance(150);
  const second = ask('b');
  await bench.clock.advance(1000);
  assert.equal((await first).pullMs, (await second).pullMs);
});

test('a pull that is under way does not hold up the end of the pod', async () => {
  const bench = createPodBench({ simulate: { app: 'pull=10m' } });
  bench.start();
  await bench.clock.advance(1000);
  const killed = bench.kill(30);
  await bench.clock.advance(100);
  await killed;
  assert.deepEqual(bench.runtime.listContainers(), []);
});
