/** What Rollcall relies on in any queue: delay, visibility, long polls, batches, sizes, attributes, identity of senders. */
import assert from 'node:assert/strict';
import {
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  PurgeQueueCommand,
  QueueDoesNotExist,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import type { Check } from './check.ts';
import type { QueueBench } from './queue-bench.ts';

function entries(count: number): SendMessageBatchRequestEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    Id: `e${index}`,
    MessageBody: `m${index}`,
  }));
}

const timeChecks: readonly Check<QueueBench>[] = [
  {
    name: 'a delayed message is seen after its delay, and not before',
    run: async (bench) => {
      const queue = await bench.standard();
      const startMs = performance.now();
      await bench.send(queue, 'late', { delaySeconds: 2 });
      // The first receive is early, unless the machine stood still meanwhile: time decides, not which one saw it.
      const early = await bench.bodies(queue);
      const seen = early.length > 0 ? early : await bench.bodies(queue, { waitSeconds: 20 });
      assert.deepEqual(seen, ['late']);
      const elapsedMs = performance.now() - startMs;
      assert.ok(elapsedMs > 1900, `seen after ${String(elapsedMs)} ms`);
    },
  },
  {
    name: 'a delay beyond 900 s is refused',
    run: async (bench) => {
      const queue = await bench.standard();
      await bench.send(queue, 'longest', { delaySeconds: 900 });
      await assert.rejects(bench.send(queue, 'longer', { delaySeconds: 901 }), {
        $fault: 'client',
      });
    },
  },
  {
    name: 'a message comes back when its visibility timeout ends, and its receive count grows',
    run: async (bench) => {
      const queue = await bench.standard({ VisibilityTimeout: '1' });
      await bench.send(queue, 'x');
      const startMs = performance.now();
      const [first] = await bench.receive(queue);
      assert.equal(first?.Attributes?.['ApproximateReceiveCount'], '1');
      const early = await bench.receive(queue);
      const [second] = early.length > 0 ? early : await bench.receive(queue, { waitSeconds: 20 });
      assert.ok(performance.now() - startMs > 900, 'it came back too soon');
      assert.equal(second?.MessageId, first?.MessageId);
      assert.equal(second?.Attributes?.['ApproximateReceiveCount'], '2');
    },
  },
  {
    name: 'a long poll wakes on a send, and ends empty when its time is up',
    run: async (bench) => {
      const queue = await bench.standard();
      const waiting = bench.bodies(queue, { waitSeconds: 20 });
      // The receive is under way before the send: both use the same client, in order.
      await new Promise((resolve) => setImmediate(resolve));
      const sentMs = performance.now();
      await bench.send(queue, 'x');
      assert.deepEqual(await waiting, ['x']);
      assert.ok(performance.now() - sentMs < 15_000, 'it only noticed at its end');
      const emptyMs = performance.now();
      assert.deepEqual(await bench.bodies(queue, { waitSeconds: 1 }), []);
      assert.ok(performance.now() - emptyMs > 900);
    },
  },
];

const contentChecks: readonly Check<QueueBench>[] = [
  {
    name: 'attributes travel with a message, and every digest is right',
    run: async (bench) => {
      const queue = await bench.fifo();
      await bench.client.send(
        new SendMessageCommand({
          QueueUrl: queue.url,
          MessageBody: 'größer ✓',
          MessageGroupId: 'g',
          MessageDeduplicationId: 'd',
          MessageAttributes: {
            text: { DataType: 'String', StringValue: 'é' },
            bytes: { DataType: 'Binary', BinaryValue: new Uint8Array([0, 255]) },
          },
        }),
      );
      // The SDK itself compares the digests of bodies.
      const [message = {}] = await bench.receive(queue);
      const { Body: body, MessageAttributes: given = {}, Attributes: attributes = {} } = message;
      assert.equal(body, 'größer ✓');
      assert.equal(given['text']?.StringValue, 'é');
      assert.deepEqual(Buffer.from(given['bytes']?.BinaryValue ?? []), Buffer.from([0, 255]));
      assert.equal(attributes['MessageGroupId'], 'g');
      assert.equal(attributes['MessageDeduplicationId'], 'd');
      assert.match(attributes['SequenceNumber'] ?? '', /^\d+$/);
      assert.ok(Math.abs(Number(attributes['SentTimestamp']) - Date.now()) < 60_000);
      assert.match(attributes['ApproximateFirstReceiveTimestamp'] ?? '', /^\d+$/);
    },
  },
  {
    name: 'SenderId tells senders apart',
    run: async (bench) => {
      const queue = await bench.standard();
      const other = bench.clientFor('ROLLCALLTESTKEY2');
      await bench.send(queue, 'mine');
      await other.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'theirs' }));
      other.destroy();
      const senders = new Map<string, string | undefined>();
      while (senders.size < 2) {
        const messages = await bench.receive(queue, { waitSeconds: 20 });
        assert.ok(messages.length > 0, 'a message is missing');
        for (const message of messages) {
          senders.set(message.Body ?? '', message.Attributes?.['SenderId']);
        }
      }
      assert.ok(senders.get('mine'));
      assert.notEqual(senders.get('mine'), senders.get('theirs'));
    },
  },
  {
    name: 'a message of 1 MiB is accepted, one byte more is refused',
    run: async (bench) => {
      const queue = await bench.standard();
      await bench.send(queue, 'x'.repeat(1_048_576));
      await assert.rejects(bench.send(queue, 'x'.repeat(1_048_577)), { $fault: 'client' });
    },
  },
  {
    name: 'attributes of a queue are shown as they were set',
    run: async (bench) => {
      const set = {
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
        VisibilityTimeout: '77',
        MessageRetentionPeriod: '1209600',
      };
      const shown = await bench.attributesOf(await bench.fifo(set));
      const picked = Object.fromEntries(Object.keys(set).map((key) => [key, shown[key]]));
      assert.deepEqual(picked, set);
    },
  },
];

const batchChecks: readonly Check<QueueBench>[] = [
  {
    name: 'a batch has at most ten entries with distinct ids, and at most 1 MiB in all',
    run: async (bench) => {
      const queue = await bench.standard();
      const send = async (batch: SendMessageBatchRequestEntry[]): Promise<number> => {
        const command = new SendMessageBatchCommand({ QueueUrl: queue.url, Entries: batch });
        return (await bench.client.send(command)).Successful?.length ?? 0;
      };
      assert.equal(await send(entries(10)), 10);
      const [twin = { Id: 'x', MessageBody: 'x' }] = entries(1);
      const large = entries(2).map((entry) => ({ ...entry, MessageBody: 'x'.repeat(600_000) }));
      for (const refused of [entries(11), [twin, twin], large]) {
        await assert.rejects(send(refused), { $fault: 'client' }, `${refused.length} entries`);
      }
    },
  },
  {
    name: 'an empty batch is refused',
    run: async (bench) => {
      const { url: QueueUrl } = await bench.standard();
      const command = new SendMessageBatchCommand({ QueueUrl, Entries: [] });
      await assert.rejects(bench.client.send(command), { $fault: 'client' });
    },
  },
  {
    name: 'a batch is answered entry by entry',
    run: async (bench) => {
      const queue = await bench.fifo();
      const valid = { MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: 'd' };
      const sent = await bench.client.send(
        new SendMessageBatchCommand({
          QueueUrl: queue.url,
          Entries: [
            { Id: 'good', ...valid },
            { Id: 'bad', ...valid, DelaySeconds: 5 },
          ],
        }),
      );
      assert.deepEqual(
        [sent.Successful?.map(({ Id }) => Id), sent.Failed?.map(({ Id }) => Id)],
        [['good'], ['bad']],
      );
      const [message] = await bench.receive(queue);
      const deleted = await bench.client.send(
        new DeleteMessageBatchCommand({
          QueueUrl: queue.url,
          Entries: [
            { Id: 'good', ReceiptHandle: message?.ReceiptHandle },
            { Id: 'bad', ReceiptHandle: 'no handle' },
          ],
        }),
      );
      assert.deepEqual(
        [deleted.Successful?.map(({ Id }) => Id), deleted.Failed?.map(({ Id }) => Id)],
        [['good'], ['bad']],
      );
    },
  },
];

const administrationChecks: readonly Check<QueueBench>[] = [
  {
    name: 'an unknown queue is QueueDoesNotExist, for the SDK too',
    run: async (bench) => {
      const command = new GetQueueUrlCommand({ QueueName: 'no-such-queue' });
      await assert.rejects(bench.client.send(command), QueueDoesNotExist);
    },
  },
  {
    name: 'a purge leaves nothing',
    run: async (bench) => {
      const queue = await bench.standard();
      await bench.send(queue, 'x');
      await bench.client.send(new PurgeQueueCommand({ QueueUrl: queue.url }));
      assert.deepEqual(await bench.bodies(queue, { waitSeconds: 1 }), []);
    },
  },
];

/** The checks of any queue. */
export const queueChecks: readonly Check<QueueBench>[] = [
  ...timeChecks,
  ...contentChecks,
  ...batchChecks,
  ...administrationChecks,
];
