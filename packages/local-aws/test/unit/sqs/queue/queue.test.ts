/**
 * Rules of one queue that neither the model beside this (order, exclusivity, handles, visibility, redrive) nor the suite of
 * test/conformance/aws sees, each on virtual time.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  fifoQueue,
  message,
  receiveBodies,
  receiveHandles,
  standardQueue,
  type TestQueue,
} from '../queue-fixture.ts';

const start = 1_000_000;
const visibilityMs = 30_000;

function sendAll({ queue }: TestQueue, bodies: readonly string[], groupId = 'g'): void {
  for (const body of bodies) queue.send(message(body, { groupId }), start);
}

function handleOf(handles: readonly string[], index = 0): string {
  const handle = handles[index];
  assert.ok(handle !== undefined, `no delivery ${String(index)}`);
  return handle;
}

describe('a FIFO queue', () => {
  it('remembers a deduplication id for 300 s from the send, also after the delete', () => {
    const test = fifoQueue();
    const first = test.queue.send(message('same'), start);
    test.queue.delete(handleOf(receiveHandles(test, start)), start);
    const repeat = test.queue.send(message('same'), start + 299_999);
    assert.deepEqual(repeat, { ...first, isDuplicate: true });
    assert.deepEqual(receiveBodies(test, start + 299_999), []);
    assert.equal(test.queue.send(message('same'), start + 300_000).isDuplicate, false);
  });

  it('deduplicates per group or per queue, as it is set', () => {
    for (const [scope, isDuplicate] of [
      ['messageGroup', false],
      ['queue', true],
    ] as const) {
      const test = fifoQueue({ DeduplicationScope: scope });
      test.queue.send(message('same', { groupId: 'a' }), start);
      const other = test.queue.send(message('same', { groupId: 'b' }), start);
      assert.equal(other.isDuplicate, isDuplicate, scope);
    }
  });

  it('holds back a whole group while its head is delayed', () => {
    const test = fifoQueue({ DelaySeconds: '5' });
    sendAll(test, ['1']);
    assert.deepEqual(test.queue.counts(start), { visible: 0, inFlight: 0, delayed: 1 });
    assert.equal(test.queue.nextWakeAtMs(), start + 5000);
    assert.equal(test.queue.hasVisible(start + 4999), false);
    assert.deepEqual(receiveBodies(test, start + 5000), ['1']);
  });

  it('serves groups in turn, so that a long backlog hides nobody', () => {
    const test = fifoQueue();
    sendAll(test, ['a1', 'a2', 'a3'], 'a');
    sendAll(test, ['b1'], 'b');
    const [first] = receiveHandles(test, start, 1);
    test.queue.delete(handleOf([first ?? '']), start);
    assert.deepEqual(receiveBodies(test, start, 1), ['b1']);
  });
});

describe('a standard queue', () => {
  it('forgets messages after the retention period', () => {
    const test = standardQueue({ MessageRetentionPeriod: '60' });
    sendAll(test, ['1']);
    assert.equal(test.queue.hasVisible(start + 59_999), true);
    assert.equal(test.queue.hasVisible(start + 60_000), false);
  });

  it('forgets everything at a purge, also what is in flight', () => {
    const test = standardQueue();
    sendAll(test, ['1', '2']);
    const handle = handleOf(receiveHandles(test, start, 1));
    test.queue.purge();
    test.queue.delete(handle, start);
    assert.deepEqual(receiveBodies(test, start + visibilityMs), []);
  });

  it('refuses what is no receipt handle', () => {
    const { queue } = standardQueue();
    for (const text of ['', 'x', 'a.b', 'a.b.c.d', '..']) {
      assert.throws(() => {
        queue.delete(text, start);
      }, /not a valid receipt handle/);
    }
  });
});
