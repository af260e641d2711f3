/** What a container does to the machine under it and to its cluster's API server, and that it ends with the container. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiLoad } from '../../../src/runtime/surroundings.ts';
import { createPodBench } from '../../support/pod-bench.ts';
import type { PodBench } from '../../support/pod-bench.ts';

async function started(app: string, kernel?: string): Promise<PodBench> {
  const bench = createPodBench({
    simulate: { app },
    ...(kernel === undefined ? {} : { machine: { kernel } }),
  });
  bench.start();
  await bench.clock.advance(2000);
  assert.equal(bench.container()?.state, 'running');
  return bench;
}

async function killed(bench: PodBench): Promise<void> {
  const ended = bench.kill(0);
  await bench.clock.advance(2000);
  await ended;
}

describe('a container that kills its machine', () => {
  it('does so after its time, once, where the kernel begins so', async () => {
    const bench = await started('panic=5.10@10s', '5.10.0-simulated');
    await bench.clock.advance(7000);
    assert.equal(bench.panics(), 0);
    await bench.clock.advance(60_000);
    assert.equal(bench.panics(), 1);
  });

  it('does nothing to another kernel, though its version has the same first digits', async () => {
    for (const kernel of ['6.1.0-simulated', '5.100.1', undefined]) {
      const bench = await started('panic=5.10', kernel);
      await bench.clock.advance(60_000);
      assert.equal(bench.panics(), 0, kernel);
    }
  });

  it('does nothing any more once it has ended', async () => {
    const bench = await started('panic=5.10@10s', '5.10.0-simulated');
    await killed(bench);
    await bench.clock.advance(60_000);
    assert.equal(bench.panics(), 0);
  });
});

describe('a container that loads the API server', () => {
  it('does so while it runs', async () => {
    const bench = await started('load-api=300ms');
    assert.equal(bench.apiLoad.delayMs(), 300);
    await killed(bench);
    assert.equal(bench.apiLoad.delayMs(), 0);
  });

  it('loads it in the runs that are to misbehave alone', async () => {
    const bench = await started('load-api=300ms, exit=1@3s, runs=1');
    assert.equal(bench.apiLoad.delayMs(), 300);
    await bench.clock.advance(60_000);
    assert.equal(bench.container()?.state, 'running');
    assert.equal(bench.apiLoad.delayMs(), 0);
  });

  it('ends with the power of its machine', async () => {
    const bench = await started('load-api=300ms');
    bench.runtime.powerOff();
    assert.equal(bench.apiLoad.delayMs(), 0);
  });
});

describe('the load of an API server', () => {
  it('is the sum of what is asked, and each is taken away once', () => {
    const load = createApiLoad();
    const ends = [load.add(40), load.add(2)];
    assert.equal(load.delayMs(), 42);
    ends[0]?.();
    ends[0]?.();
    assert.equal(load.delayMs(), 2);
    ends[1]?.();
    assert.equal(load.delayMs(), 0);
  });
});
