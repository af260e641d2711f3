/** Two replicas of a watcher: who starts second waits, and who leaves gives the Lease back (row 72, protocol 14). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';
import type { Watcher } from '../../../src/watcher/session/watcher.ts';
import { createWatcherHarness, type WatcherHarness } from '../../support/watcher-harness.ts';

const REPLICAS = { lease: { ...DEFAULT_WATCHER_OPTIONS.lease, start: 'stand-by' } } as const;
const DURATION_MS = REPLICAS.lease.durationMs;

function holderOf(harness: WatcherHarness): unknown {
  return (harness.source.lease?.['spec'] as { holderIdentity?: unknown } | undefined)
    ?.holderIdentity;
}

async function startBeside(harness: WatcherHarness, seed: number): Promise<Watcher> {
  const watcher = harness.newWatcher(seed);
  await watcher.start();
  return watcher;
}

describe('a replica that starts', () => {
  test('takes a Lease that nobody holds at once', async () => {
    const harness = createWatcherHarness(REPLICAS);
    const watcher = await harness.startSettled();
    assert.equal(holderOf(harness), watcher.status().incarnation);
    await watcher.stop();
  });

  test('stands by while the other one renews, however long, and disturbs nothing (row 72)', async () => {
    const harness = createWatcherHarness(REPLICAS);
    const first = await harness.startSettled(1);
    const { epoch } = first.status();
    const second = await startBeside(harness, 2);
    await harness.clock.advance(2 * 3_600_000);
    assert.equal(second.status().state, 'standby');
    assert.equal(first.status().epoch, epoch);
    assert.equal(harness.queue.bodies('announcement').length, 1);
    await first.stop();
    await second.stop();
  });

  test('takes over when the other one was killed and its Lease has run out, not before', async () => {
    const harness = createWatcherHarness(REPLICAS);
    const first = await harness.startSettled(1);
    const second = await startBeside(harness, 2);
    await harness.clock.advance(60_000);
    await first.stop();
    // Its last renewal was up to 12 s ago.
    await harness.clock.advance(DURATION_MS - 13_000);
    assert.equal(second.status().state, 'standby');
    await harness.clock.advance(17_000);
    assert.equal(second.status().state, 'running');
    assert.equal(harness.ingest().isComplete, true);
    await second.stop();
  });

  test('of two that wait for the same Lease one takes it, and the other waits on (protocol 14)', async () => {
    const harness = createWatcherHarness(REPLICAS);
    const first = await harness.startSettled(1);
    const others = [await startBeside(harness, 2), await startBeside(harness, 3)];
    await harness.clock.advance(60_000);
    await first.retire();
    await harness.clock.advance(60_000);
    assert.deepEqual(others.map((other) => other.status().state).sort(), ['running', 'standby']);
    assert.equal(harness.queue.bodies('announcement').length, 2);
    await Promise.all(others.map((other) => other.stop()));
  });

  test('does not wait for itself after its own epoch ended', async () => {
    const harness = createWatcherHarness(REPLICAS);
    const watcher = await harness.startSettled();
    const { epoch } = watcher.status();
    const contents = harness.source.backup();
    await harness.clock.advance(120_000);
    harness.source.restore(contents);
    await harness.clock.advance(30_000);
    assert.equal(watcher.status().state, 'running');
    assert.notEqual(watcher.status().epoch, epoch);
    await watcher.stop();
  });
});

describe('a watcher that leaves', () => {
  for (const [name, options] of [
    ['a replica', REPLICAS],
    ['a watcher that lost its Lease', {}],
  ] as const) {
    test(`gives the Lease back, and ${name} takes over within seconds (row 72)`, async () => {
      const harness = createWatcherHarness(options);
      const first = await harness.startSettled(1);
      const second = await startBeside(harness, 2);
      await harness.clock.advance(60_000);
      const [leaving, staying] =
        first.status().state === 'running' ? [first, second] : [second, first];
      assert.equal(staying.status().state, 'standby');
      await leaving.retire();
      assert.equal(holderOf(harness), '');
      await harness.clock.advance(4_000);
      assert.equal(staying.status().state, 'running');
      assert.equal(holderOf(harness), staying.status().incarnation);
      await staying.stop();
    });
  }

  test('leaves a Lease alone that is another one’s by now', async () => {
    const harness = createWatcherHarness();
    const older = await harness.startSettled(1);
    const newer = await harness.startSettled(2);
    await older.retire();
    assert.equal(holderOf(harness), newer.status().incarnation);
    await newer.stop();
  });

  test('gives it back although a renewal came between', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    let conflicts = 0;
    harness.source.faultOf = ({ op }) => {
      if (op !== 'write-lease' || conflicts > 0) return undefined;
      conflicts += 1;
      return { kind: 'conflict' };
    };
    await watcher.retire();
    assert.equal(conflicts, 1);
    assert.equal(holderOf(harness), '');
  });

  test('keeps foreign annotations', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.source.editLease((lease) => ({
      ...lease,
      metadata: { ...lease.metadata, annotations: { foreign: 'kept' } },
    }));
    await watcher.retire();
    assert.equal(harness.source.lease?.metadata.annotations?.['foreign'], 'kept');
    assert.equal(holderOf(harness), '');
  });

  test('waits for no API server that is away', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const holder = holderOf(harness);
    harness.source.faultOf = () => ({ kind: 'unavailable', message: 'away' });
    await watcher.retire();
    assert.equal(holderOf(harness), holder);
  });
});
