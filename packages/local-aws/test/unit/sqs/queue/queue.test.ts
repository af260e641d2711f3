/** The rules of one queue, each on virtual time: groups, order, visibility, handles, redrive, delay, retention. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SqsError } from '../../../../src/sqs/queue/errors.ts';
import {
  fifoQueue,
  message,
  receiveBodies,
  receiveHandles,
  redriveAfter,
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
  it('delivers a group in order, and blocks it while a message is in flight', () => {
    const test = fifoQueue();
    sendAll(test, ['1', '2', '3']);
    assert.deepEqual(receiveBodies(test, start, 1), ['1']);
    assert.deepEqual(receiveBodies(test, start + 1), []);
    assert.deepEqual(receiveBodies(test, start + visibilityMs), ['1', '2', '3']);
  });

  it('lets other groups through, and may mix groups in one receive', () => {
    const test = fifoQueue();
    sendAll(test, ['a1', 'a2'], 'a');
    sendAll(test, ['b1'], 'b');
    assert.deepEqual(receiveBodies(test, start, 1), ['a1']);
    assert.deepEqual(receiveBodies(test, start), ['b1']);
    const mixed = fifoQueue();
    sendAll(mixed, ['a1'], 'a');
    sendAll(mixed, ['b1'], 'b');
    assert.deepEqual(receiveBodies(mixed, start).sort(), ['a1', 'b1']);
  });

  it('keeps a group locked after a partial delete, until the last one is gone or visible again', () => {
    const test = fifoQueue();
    sendAll(test, ['1', '2', '3']);
    const handles = receiveHandles(test, start, 2);
    test.queue.delete(handleOf(handles, 0), start);
    assert.deepEqual(receiveBodies(test, start), []);
    test.queue.delete(handleOf(handles, 1), start);
    assert.deepEqual(receiveBodies(test, start), ['3']);
  });

  it('keeps a group locked while one of its messages is invisible, though an earlier one returned', () => {
    const test = fifoQueue();
    sendAll(test, ['1', '2', '3']);
    const handles = receiveHandles(test, start, 2);
    test.queue.changeVisibility(handleOf(handles, 0), 0, start);
    assert.deepEqual(receiveBodies(test, start), []);
    test.queue.changeVisibility(handleOf(handles, 1), 0, start);
    assert.deepEqual(receiveBodies(test, start), ['1', '2', '3']);
  });

  it('refuses a stale receipt handle, and deletes nothing', () => {
    const test = fifoQueue();
    sendAll(test, ['1']);
    const stale = handleOf(receiveHandles(test, start));
    const expired = start + visibilityMs;
    assert.throws(() => {
      test.queue.delete(stale, expired);
    }, /receipt handle has expired/);
    const current = handleOf(receiveHandles(test, expired));
    assert.throws(() => {
      test.queue.delete(stale, expired);
    }, SqsError);
    test.queue.delete(current, expired);
    test.queue.delete(current, expired);
    assert.deepEqual(test.queue.counts(expired), { visible: 0, inFlight: 0, delayed: 0 });
  });

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

  it('deduplicates by content where that is on and no id is given', () => {
    const test = fifoQueue({ ContentBasedDeduplication: 'true' });
    const send = (body: string): boolean =>
      test.queue.send(message(body, { deduplicationId: undefined }), start).isDuplicate;
    assert.deepEqual([send('x'), send('x'), send('y')], [false, true, false]);
  });

  it('moves the head that was received too often, and delivers the next in the same receive', () => {
    const test = fifoQueue(redriveAfter(2));
    sendAll(test, ['poison', 'good']);
    assert.deepEqual(receiveBodies(test, start, 1), ['poison']);
    assert.deepEqual(receiveBodies(test, start + visibilityMs, 1), ['poison']);
    assert.deepEqual(receiveBodies(test, start + 2 * visibilityMs, 1), ['good']);
    assert.deepEqual(
      test.deadLetters.map(({ body }) => body),
      ['poison'],
    );
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
  it('knows no groups', () => {
    const test = standardQueue();
    sendAll(test, ['1', '2']);
    assert.deepEqual(receiveBodies(test, start, 1), ['1']);
    assert.deepEqual(receiveBodies(test, start, 1), ['2']);
  });

  it('delays a message by its own delay', () => {
    const test = standardQueue();
    test.queue.send(message('late', { delaySeconds: 900 }), start);
    test.queue.send(message('now'), start);
    assert.deepEqual(receiveBodies(test, start), ['now']);
    assert.deepEqual(receiveBodies(test, start + 899_999 - visibilityMs), ['now']);
    assert.ok(receiveBodies(test, start + 900_000).includes('late'));
  });

  it('takes an older receipt handle without deleting anything', () => {
    const test = standardQueue();
    sendAll(test, ['1']);
    const stale = handleOf(receiveHandles(test, start));
    const again = start + visibilityMs;
    const current = handleOf(receiveHandles(test, again));
    test.queue.delete(stale, again);
    assert.equal(test.queue.counts(again).inFlight, 1);
    test.queue.delete(current, again);
    assert.equal(test.queue.counts(again).inFlight, 0);
  });

  it('deletes with the latest handle even after the visibility timeout', () => {
    const test = standardQueue();
    sendAll(test, ['1']);
    test.queue.delete(handleOf(receiveHandles(test, start)), start + visibilityMs + 1);
    assert.deepEqual(receiveBodies(test, start + visibilityMs + 1), []);
  });

  it('prolongs and ends visibility, and never shows a message twice for it', () => {
    const test = standardQueue();
    sendAll(test, ['1']);
    const handle = handleOf(receiveHandles(test, start));
    test.queue.changeVisibility(handle, 30, start);
    test.queue.changeVisibility(handle, 60, start);
    assert.deepEqual(receiveBodies(test, start + 59_999), []);
    assert.deepEqual(receiveBodies(test, start + 60_000), ['1']);
    assert.deepEqual(receiveBodies(test, start + 60_000), []);
    assert.throws(() => {
      test.queue.changeVisibility(handle, 0, start + 60_000);
    }, /not in flight/);
  });

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
