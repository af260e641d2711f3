/** What a burst left of the heap is given back once the engine is quiet, and only then. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { keepHeapSlim, processHeap } from '../../../../src/adapters/system/slim-heap.ts';

const MIB = 1024 * 1024;

function setUp(collected: () => Promise<void> = () => Promise.resolve()) {
  const clock = new VirtualClock();
  const counts = { started: 0, running: 0 };
  const seen = { heldMiB: 300, collections: 0 };
  const heap = {
    heldBytes: () => seen.heldMiB * MIB,
    collect: async () => {
      seen.collections += 1;
      await collected();
      seen.heldMiB = 60;
    },
  };
  const stop = keepHeapSlim({ heap, clock, counts, log: new MemoryLog() });
  return { clock, counts, seen, stop };
}

describe('the heap of an engine', () => {
  it('is left alone while invocations begin, or one runs', async () => {
    const { clock, counts, seen } = setUp();
    for (let look = 0; look < 6; look += 1) {
      counts.started += 1;
      await clock.advance(10_000);
    }
    counts.running = 1;
    await clock.advance(60_000);
    assert.equal(seen.collections, 0);
  });

  it('is collected once when it is quiet, and again only after it grew', async () => {
    const { clock, counts, seen } = setUp();
    await clock.advance(600_000);
    assert.equal(seen.collections, 1);
    counts.started += 1;
    seen.heldMiB = 155;
    await clock.advance(600_000);
    assert.equal(seen.collections, 1, '95 MiB more are no reason');
    seen.heldMiB = 156;
    await clock.advance(600_000);
    assert.equal(seen.collections, 2);
  });

  it('that does not shrink is not collected again and again', async () => {
    const { clock, seen } = setUp(() => Promise.reject(new Error('no inspector')));
    await clock.advance(600_000);
    assert.equal(seen.collections, 1);
  });

  it('is not looked at once the engine has stopped', async () => {
    const { clock, seen, stop } = setUp();
    stop();
    await clock.advance(600_000);
    assert.equal(seen.collections, 0);
  });

  it('of this process shrinks by what nobody holds', async () => {
    let garbage: { readonly index: number }[] | undefined = [];
    for (let index = 0; index < 1_000_000; index += 1) garbage.push({ index });
    const before = processHeap.heldBytes();
    garbage = undefined;
    await processHeap.collect();
    assert.ok(processHeap.heldBytes() < before - 16 * MIB);
  });
});
