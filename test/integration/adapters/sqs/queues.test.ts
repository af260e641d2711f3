/** Queue adapters through the AWS SDK against the local SQS server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Message } from '@aws-sdk/client-sqs';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { CALL_LIMITS, createAwsClient } from '../../../../src/adapters/aws/create-client.ts';
import { CUT_AGE_ATTRIBUTE, readCutAgeMs } from '../../../../src/adapters/sqs/cut-age.ts';
import { createEventQueue } from '../../../../src/adapters/sqs/event-queue.ts';
import { parseHint, parseTimer } from '../../../../src/adapters/sqs/hint-codec.ts';
import { createHintQueue } from '../../../../src/adapters/sqs/hint-queue.ts';
import { identifySender } from '../../../../src/adapters/sqs/sender-identity.ts';
import { parseWatcherMessage } from '../../../../src/adapters/sqs/watcher-message-codec.ts';
import { createSystemClock } from '../../../../src/adapters/system/system-clock.ts';
import { createSystemRandom } from '../../../../src/adapters/system/system-random.ts';
import { startSqsServer } from '../../../../src/local/aws/sqs/server.ts';
import type { SqsServer } from '../../../../src/local/aws/sqs/server.ts';
import { samples } from '../../../unit/adapters/sqs/watcher-message-samples.ts';

const clock = createSystemClock({ timers: 'unreferenced' });
const random = createSystemRandom();
const hint = {
  schema: 1,
  key: { cluster: clusterId('west-1'), namespace: 'agents', name: 'collector' },
  clusterUid: clusterUid('uid-1'),
  reason: 'changed',
} as const;

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
    for (const QueueName of ['events.fifo', 'reconcile.fifo']) {
      await client.send(new CreateQueueCommand({ QueueName, Attributes: fifo }));
    }
    await client.send(new CreateQueueCommand({ QueueName: 'delay' }));
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
