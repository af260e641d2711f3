/** Waiting receivers on virtual time: woken by what changes, by time, or by nothing until they expire. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrokerQueue } from '../../../../src/sqs/server/broker.ts';
import { LongPolls } from '../../../../src/sqs/server/long-polls.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { fifoQueue, message, type TestQueue } from '../queue-fixture.ts';

interface Bench {
  readonly clock: VirtualClock;
  readonly polls: LongPolls;
  readonly target: BrokerQueue;
  readonly test: TestQueue;
  readonly log: string[];
  readonly park: (name: string, waitMs?: number) => () => void;
}

function bench(): Bench {
  const clock = new VirtualClock();
  const polls = new LongPolls(clock, () => undefined);
  const test = fifoQueue();
  const target: BrokerQueue = {
    name: 'test.fifo',
    arn: 'arn',
    queue: test.queue,
    attributes: {},
    createdAtMs: 0,
    modifiedAtMs: 0,
  };
  const log: string[] = [];
  const park = (name: string, waitMs = 20_000): (() => void) =>
    polls.park(target, {
      waitMs,
      attempt: () => {
        const [delivery] = test.queue.receive({ countMax: 1 }, clock.nowMs());
        if (delivery !== undefined) log.push(`${name} gets ${delivery.message.body}`);
        return delivery !== undefined;
      },
      expire: () => {
        log.push(`${name} expires`);
      },
    });
  return { clock, polls, target, test, log, park };
}

describe('a waiting receiver', () => {
  it('is served in the same turn as the send, the longest-waiting first', () => {
    const { clock, polls, target, test, log, park } = bench();
    park('first');
    park('second');
    test.queue.send(message('a', { groupId: 'a' }), clock.nowMs());
    test.queue.send(message('b', { groupId: 'b' }), clock.nowMs());
    polls.changed(target);
    assert.deepEqual(log, ['first gets a', 'second gets b']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('wakes when its group is unlocked by a delete', () => {
    const { clock, polls, target, test, log, park } = bench();
    test.queue.send(message('1'), clock.nowMs());
    test.queue.send(message('2'), clock.nowMs());
    const [delivery] = test.queue.receive({ countMax: 1 }, clock.nowMs());
    park('waiter');
    polls.changed(target);
    assert.deepEqual(log, []);
    test.queue.delete(delivery?.receiptHandle ?? '', clock.nowMs());
    polls.changed(target);
    assert.deepEqual(log, ['waiter gets 2']);
  });

  it('wakes by itself when a visibility timeout ends', async () => {
    const { clock, test, log, park } = bench();
    test.queue.send(message('1'), clock.nowMs());
    test.queue.receive({ countMax: 1, visibilityTimeoutSeconds: 5 }, clock.nowMs());
    park('waiter');
    await clock.advance(4999);
    assert.deepEqual(log, []);
    await clock.advance(1);
    assert.deepEqual(log, ['waiter gets 1']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('expires once its time is up, and sets no timer beyond that', async () => {
    const { clock, polls, target, test, log, park } = bench();
    park('waiter', 1000);
    await clock.advance(1000);
    assert.deepEqual(log, ['waiter expires']);
    test.queue.send(message('late'), clock.nowMs());
    polls.changed(target);
    assert.deepEqual(log, ['waiter expires']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('gets nothing any more when it has gone', () => {
    const { clock, polls, target, test, log, park } = bench();
    const cancel = park('gone');
    park('here');
    cancel();
    test.queue.send(message('1'), clock.nowMs());
    polls.changed(target);
    assert.deepEqual(log, ['here gets 1']);
  });

  it('is let go when the server stops', () => {
    const { clock, polls, log, park } = bench();
    park('waiter');
    polls.stop();
    assert.deepEqual(log, ['waiter expires']);
    assert.equal(clock.pendingTimers, 0);
  });
});
