/** Queue adapters through the AWS SDK against the local SQS server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Message } from '@aws-sdk/client-sqs';
import type { Hint } from '../../../../src/core/model/hint.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { CALL_LIMITS, createAwsClient } from '../../../../src/adapters/aws/create-client.ts';
import {
  CUT_AGE_ATTRIBUTE,
  readCutAgeMs,
  createEventQueue,
} from '../../../../src/adapters/sqs/event-queue.ts';
import { parseHint, parseTimer } from '../../../../src/adapters/sqs/schema/hint-codec.ts';
import { createHintQueue } from '../../../../src/adapters/sqs/hint-queue.ts';
import { identifySender } from '../../../../src/adapters/sqs/queue-ids.ts';
import { parseWatcherMessage } from '../../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startSqsServer, type SqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { samples } from '../../../unit/adapters/sqs/watcher-message-samples.ts';

const clock = createSystemClock({ timers: 'unreferenced' });
const random = createSystemRandom();
const hint = {
  schema: 1,
  key: { cluster: clusterId('west-1'), namespace: 'agents', name: 'collector' },
  clusterUid: clusterUid('uid-1'),
  reason: 'changed',
} as const;

/** As long as its schema lets it be; the other end reads it. */
function longestHint(index: number): Hint {
  const name = String(index).padStart(253, 'n');
  return {
    schema: 1,
    key: { cluster: clusterId('c'.repeat(100)), namespace: 'n'.repeat(63), name },
    clusterUid: clusterUid('u'.repeat(128)),
    reason: 'snapshot',
  };
}

describe('queues over a real SQS protocol', () => {
  let server: SqsServer;
  let client: SQSClient;
  before(async () => {
    const senderIds = new Map([['WATCHERKEY', 'AROAWATCHER:rollcall-watcher']]);
    server = await startSqsServer({ clock, newId: () => random.uniqueId(), senderIds });
    client = createAwsClient(SQSClient, CALL_LIMITS.watcher, {
      endpoint: server.endpoint,
      region: server.region,
      credentials: { accessKeyId: 'WATCHERKEY', secretAccessKey: 'none' },
    });
    const fifo = {
      FifoQueue: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    };
    for (const QueueName of ['events.fifo', 'reconcile.fifo', 'long.fifo']) {
      await client.send(new CreateQueueCommand({ QueueName, Attributes: fifo }));
    }
    await client.send(new CreateQueueCommand({ QueueName: 'delay' }));
    await client.send(new CreateQueueCommand({ QueueName: 'long' }));
    const narrow = { ...fifo, MaximumMessageSize: '1024' };
    await client.send(new CreateQueueCommand({ QueueName: 'narrow.fifo', Attributes: narrow }));
  });
  after(async () => {
    client.destroy();
    await server.stop();
  });

  async function receive(queueName: string): Promise<readonly Message[]> {
    const answer = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: server.urlOf(queueName),
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    );
    return answer.Messages ?? [];
  }

  /** Bodies of everything that is there; each is received once, since its visibility outlasts the test. */
  async function receiveAll(queueName: string): Promise<readonly string[]> {
    const bodies: string[] = [];
    for (;;) {
      const messages = await receive(queueName);
      if (messages.length === 0) return bodies;
      bodies.push(...messages.map(({ Body }) => Body ?? ''));
    }
  }

  it('take a frozen message once, however often it is sent, with its sender', async () => {
    const queue = createEventQueue({ client, queueUrl: server.urlOf('events.fifo') });
    const { slices: message } = samples;
    assert.ok(message !== undefined);
    const frozen = queue.freeze(message);
    assert.deepEqual(await queue.send(frozen), { kind: 'accepted' });
    assert.deepEqual(await queue.send(frozen), { kind: 'accepted' });
    const received = await receive('events.fifo');
    assert.equal(received.length, 1);
    assert.equal(received[0]?.Attributes?.['MessageGroupId'], 'west-1');
    assert.equal(identifySender(received[0].Attributes['SenderId']), 'AROAWATCHER');
    assert.deepEqual(parseWatcherMessage(received[0].Body ?? ''), { kind: 'message', message });
  });

  it('take the age of a cut beside the same bytes: that of the try that was taken counts (protocol 1)', async () => {
    const queue = createEventQueue({ client, queueUrl: server.urlOf('events.fifo') });
    const { heartbeat: message } = samples;
    assert.ok(message !== undefined);
    const frozen = queue.freeze({ ...message, cluster: clusterId('frozen') });
    assert.deepEqual(await queue.send(frozen, 3_600_000), { kind: 'accepted' });
    assert.deepEqual(await queue.send(frozen, 3_601_000), { kind: 'accepted' });
    const received = await receive('events.fifo');
    assert.equal(received.length, 1);
    const attribute = received[0]?.MessageAttributes?.[CUT_AGE_ATTRIBUTE];
    assert.equal(readCutAgeMs(attribute?.StringValue), 3_600_000);
    assert.equal(received[0]?.Body, frozen.body);
  });

  it('take hints and timers', async () => {
    const queue = createHintQueue({
      client,
      clock,
      reconcileQueueUrl: server.urlOf('reconcile.fifo'),
      delayQueueUrl: server.urlOf('delay'),
    });
    await queue.sendHints([hint], 'a/');
    await queue.sendHints([hint], 'a/');
    await queue.sendHints([hint], 'b/');
    const hints = await receive('reconcile.fifo');
    assert.equal(hints.length, 2, 'one for each producer');
    assert.deepEqual(parseHint(hints[0]?.Body ?? ''), { kind: 'hint', hint });
    const timer = { schema: 1, hint, timerId: 't1', dueAtMs: clock.nowMs() - 1, hops: 0 } as const;
    await queue.sendTimers([timer]);
    const timers = await receive('delay');
    assert.deepEqual(parseTimer(timers[0]?.Body ?? ''), { kind: 'timer', timer });
  });

  it('take the longest hints and timers that can be, ten at a time, within a thirtieth of what a batch may have', async () => {
    const queue = createHintQueue({
      client,
      clock,
      reconcileQueueUrl: server.urlOf('long.fifo'),
      delayQueueUrl: server.urlOf('long'),
    });
    const longest = Array.from({ length: 23 }, (_, index) => longestHint(index));
    await queue.sendHints(longest, 'l'.repeat(36));
    const timers = longest.map((one) => ({
      schema: 1 as const,
      hint: one,
      timerId: 't'.repeat(128),
      dueAtMs: clock.nowMs() - 1,
      hops: 1_000_000,
    }));
    await queue.sendTimers(timers);
    for (const [name, parse] of [
      ['long.fifo', parseHint],
      ['long', parseTimer],
    ] as const) {
      const bodies = await receiveAll(name);
      assert.equal(bodies.length, longest.length, name);
      for (const body of bodies) assert.notEqual(parse(body).kind, 'refused');
      const bytes = Math.max(...bodies.map((body) => Buffer.byteLength(body)));
      assert.ok(10 * bytes < 1_048_576 / 30, `${bytes} bytes`);
    }
  });

  it('refuse an entry that is too large alone: the others of its batch, and other batches, are taken', async () => {
    const queue = createHintQueue({
      client,
      clock,
      reconcileQueueUrl: server.urlOf('narrow.fifo'),
      delayQueueUrl: server.urlOf('long'),
    });
    const names = Array.from({ length: 12 }, (_, index) => `set-${index}`);
    const hints = names.map((name) => ({ ...hint, key: { ...hint.key, name } }));
    // None is so long: the queue was made narrower than any may be.
    const tooLarge = { ...hint, key: { ...hint.key, name: 'x'.repeat(2000) } };
    const sent = queue.sendHints([...hints.slice(0, 4), tooLarge, ...hints.slice(4)], 'n/');
    await assert.rejects(sent, { name: 'QueueRejectionError', message: /did not accept 1 of 13/ });
    const taken = (await receiveAll('narrow.fifo')).map((body) => {
      const parsed = parseHint(body);
      return parsed.kind === 'hint' ? parsed.hint.key.name : parsed.kind;
    });
    assert.deepEqual(taken.toSorted(), names.toSorted());
  });

  it('are told apart: no server is unsent, no queue is unsent, both to be repeated', async () => {
    const { heartbeat } = samples;
    assert.ok(heartbeat !== undefined);
    const missing = createEventQueue({ client, queueUrl: server.urlOf('missing.fifo') });
    const noQueue = await missing.send(missing.freeze(heartbeat));
    assert.equal(noQueue.kind, 'unsent', JSON.stringify(noQueue));
    const nobody = createAwsClient(SQSClient, CALL_LIMITS.watcher, {
      endpoint: 'http://127.0.0.1:9',
      region: 'us-east-1',
      credentials: { accessKeyId: 'WATCHERKEY', secretAccessKey: 'none' },
    });
    const unreachable = createEventQueue({
      client: nobody,
      queueUrl: 'http://127.0.0.1:9/0/q.fifo',
    });
    const noServer = await unreachable.send(unreachable.freeze(heartbeat));
    assert.deepEqual(noServer, { kind: 'unsent', message: 'ECONNREFUSED' });
    nobody.destroy();
  });
});
