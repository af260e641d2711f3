/** Moving what waits in a dead-letter queue, with and without message move tasks, against the local SQS server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { moveDeadLetters } from '../../../../src/adapters/sqs/dead-letter-mover.ts';
import { inspectQueue } from '../../../../src/adapters/sqs/queue-inspection.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startSqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import type { SqsServer } from '@rollcall/local-aws/sqs/server/server.ts';

const clock = createSystemClock({ timers: 'unreferenced' });
const random = createSystemRandom();

describe('moving dead letters', () => {
  let server: SqsServer;
  let client: SQSClient;
  before(async () => {
    server = await startSqsServer({ clock, newId: () => random.uniqueId() });
    client = new SQSClient({
      endpoint: server.endpoint,
      region: server.region,
      credentials: { accessKeyId: 'test', secretAccessKey: 'none' },
      maxAttempts: 1,
    });
  });
  after(async () => {
    client.destroy();
    await server.stop();
  });

  async function pair(name: string, suffix: '' | '.fifo'): Promise<[string, string]> {
    const fifo = suffix === '' ? {} : { FifoQueue: 'true' };
    const dead = `${name}-dead-letter${suffix}`;
    await client.send(new CreateQueueCommand({ QueueName: dead, Attributes: fifo }));
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: server.urlOf(dead),
        AttributeNames: ['QueueArn'],
      }),
    );
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: Attributes?.['QueueArn'],
      maxReceiveCount: 5,
    });
    await client.send(
      new CreateQueueCommand({
        QueueName: `${name}${suffix}`,
        Attributes: { ...fifo, RedrivePolicy },
      }),
    );
    return [server.urlOf(dead), server.urlOf(`${name}${suffix}`)];
  }

  /** A letter gets there as in life: received too often. */
  async function lose(
    sourceUrl: string,
    deadUrl: string,
    bodies: readonly string[],
  ): Promise<void> {
    for (const [index, MessageBody] of bodies.entries()) {
      const isFifo = sourceUrl.endsWith('.fifo');
      const ids = isFifo
        ? { MessageGroupId: `g${index}`, MessageDeduplicationId: `d${index}` }
        : {};
      await client.send(new SendMessageCommand({ QueueUrl: sourceUrl, MessageBody, ...ids }));
    }
    const request = { QueueUrl: sourceUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 };
    for (let receive = 0; receive < 8; receive += 1) {
      await client.send(new ReceiveMessageCommand(request));
    }
    const { waiting } = { waiting: 0, ...(await inspectQueue(client, deadUrl)) };
    assert.equal(waiting, bodies.length);
  }

  async function received(url: string): Promise<readonly string[]> {
    const request = { QueueUrl: url, MaxNumberOfMessages: 10 };
    const answer = await client.send(new ReceiveMessageCommand(request));
    return (answer.Messages ?? []).map(({ Body }) => Body ?? '').toSorted();
  }

  for (const suffix of ['.fifo', ''] as const) {
    it(`uses a message move task where there is one (${suffix || 'standard'})`, async () => {
      const [deadLetterUrl, sourceUrl] = await pair('with-task', suffix);
      const queue = { deadLetterUrl, sourceUrl };
      assert.deepEqual(await moveDeadLetters(client, queue), { kind: 'empty' });
      await lose(sourceUrl, deadLetterUrl, ['a', 'b']);
      assert.deepEqual(await moveDeadLetters(client, queue), { kind: 'started', waiting: 2 });
      assert.deepEqual(await received(sourceUrl), ['a', 'b']);
      assert.deepEqual(await received(deadLetterUrl), []);
    });

    it(`moves one by one where there is none (${suffix || 'standard'})`, async () => {
      const [deadLetterUrl, sourceUrl] = await pair('without-task', suffix);
      const queue = { deadLetterUrl, sourceUrl };
      const limited = withoutMoveTasks(client);
      await lose(sourceUrl, deadLetterUrl, ['a', 'b', 'c']);
      assert.deepEqual(await moveDeadLetters(limited, queue), { kind: 'moved', moved: 3 });
      assert.deepEqual(await received(sourceUrl), ['a', 'b', 'c']);
      assert.deepEqual(await received(deadLetterUrl), []);
    });
  }

  it('leaves a message where it is that the queue does not take: none is lost', async () => {
    const [deadLetterUrl, sourceUrl] = await pair('not-taken', '');
    const queue = { deadLetterUrl, sourceUrl };
    await lose(sourceUrl, deadLetterUrl, ['a']);
    const limited = refusing(withoutMoveTasks(client), SendMessageCommand, 'OverLimit');
    const moving = moveDeadLetters(limited, queue);
    await assert.rejects(moving, { name: 'OverLimit' });
    const left = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: deadLetterUrl,
        AttributeNames: ['ApproximateNumberOfMessagesNotVisible'],
      }),
    );
    assert.equal(left.Attributes?.['ApproximateNumberOfMessagesNotVisible'], '1');
  });

  it('says that a queue does not exist', async () => {
    const url = server.urlOf('without-task').replace('without-task', 'nowhere');
    assert.deepEqual(await inspectQueue(client, url), { kind: 'missing' });
  });
});

/** As an emulator that does not know the request. */
function withoutMoveTasks(client: SQSClient): SQSClient {
  return refusing(client, StartMessageMoveTaskCommand, 'InvalidAction');
}

/** The same client, but one command is refused. */
function refusing(
  client: SQSClient,
  refused: typeof SendMessageCommand | typeof StartMessageMoveTaskCommand,
  name: string,
): SQSClient {
  return new Proxy(client, {
    get: (target, property) => {
      if (property !== 'send') return Reflect.get(target, property) as unknown;
      return (command: Parameters<SQSClient['send']>[0]): unknown => {
        if (!(command instanceof refused)) return target.send(command);
        return Promise.reject(Object.assign(new Error('refused'), { name }));
      };
    },
  });
}
