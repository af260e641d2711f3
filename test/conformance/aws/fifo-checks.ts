/** What Rollcall relies on in a FIFO queue: exclusive groups, order, deduplication, handles, redrive. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  SendMessageCommand,
  type Message,
} from '@aws-sdk/client-sqs';
import type { Check } from './check.ts';
import type { QueueBench, QueueUnderTest } from './queue-bench.ts';

async function sendAll(
  bench: QueueBench,
  queue: QueueUnderTest,
  bodies: readonly string[],
): Promise<void> {
  for (const body of bodies) await bench.send(queue, body, { group: body.slice(0, 1) });
}

async function queueWithDeadLetters(
  bench: QueueBench,
): Promise<{ queue: QueueUnderTest; deadLetters: QueueUnderTest }> {
  const deadLetters = await bench.fifo();
  const { QueueArn: deadLetterTargetArn } = await bench.attributesOf(deadLetters);
  const queue = await bench.fifo({
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }),
  });
  return { queue, deadLetters };
}

/** Receives the head twice and lets it return, so that its next receive is one too many. */
async function exhaustHead(bench: QueueBench, queue: QueueUnderTest): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    const [head] = await bench.receive(queue, { countMax: 1, waitSeconds: 20 });
    await returnMessage(bench, queue, head);
  }
}

/** Sets a message's visibility timeout to 0. */
async function returnMessage(
  bench: QueueBench,
  queue: QueueUnderTest,
  message: Message | undefined,
): Promise<void> {
  await bench.client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queue.url,
      ReceiptHandle: message?.ReceiptHandle,
      VisibilityTimeout: 0,
    }),
  );
}

/** Drains a queue with several consumers at once, and fails when two hold the same group. */
async function consumeExclusively(
  bench: QueueBench,
  queue: QueueUnderTest,
  messageCount: number,
): Promise<string[]> {
  const held = new Set<string>();
  const done: string[] = [];
  const consume = async (): Promise<void> => {
    while (done.length < messageCount) {
      const [message] = await bench.receive(queue, { countMax: 1, waitSeconds: 1 });
      if (message === undefined) continue;
      const group = message.Attributes?.['MessageGroupId'] ?? '';
      assert.ok(!held.has(group), `two consumers hold ${group}`);
      held.add(group);
      await new Promise((resolve) => setImmediate(resolve));
      held.delete(group);
      done.push(message.Body ?? '');
      await bench.remove(queue, message);
    }
  };
  await Promise.all(Array.from({ length: 8 }, consume));
  return done;
}

const exclusivityChecks: readonly Check<QueueBench>[] = [
  {
    name: 'a group is blocked while a message is in flight, other groups are not',
    run: async (bench) => {
      const queue = await bench.fifo();
      await sendAll(bench, queue, ['a1', 'a2', 'b1']);
      const [first] = await bench.receive(queue, { countMax: 1 });
      assert.equal(first?.Body, 'a1');
      assert.deepEqual(await bench.bodies(queue), ['b1']);
      assert.deepEqual(await bench.bodies(queue), []);
      await bench.remove(queue, first);
      assert.deepEqual(await bench.bodies(queue), ['a2']);
    },
  },
  {
    name: 'one receive may mix groups, each in order',
    run: async (bench) => {
      const queue = await bench.fifo();
      await sendAll(bench, queue, ['a1', 'b1', 'a2', 'b2']);
      const bodies = await bench.bodies(queue);
      assert.equal(bodies.length, 4);
      // Interleaved or one group after the other: AWS allows both.
      for (const group of ['a', 'b']) {
        assert.deepEqual(
          bodies.filter((body) => body.startsWith(group)),
          [`${group}1`, `${group}2`],
        );
      }
    },
  },
  {
    name: 'a partial delete keeps the group locked',
    run: async (bench) => {
      const queue = await bench.fifo();
      await sendAll(bench, queue, ['a1', 'a2', 'a3']);
      const [first, second] = await bench.receive(queue, { countMax: 2 });
      await bench.remove(queue, first);
      assert.deepEqual(await bench.bodies(queue), []);
      await bench.remove(queue, second);
      assert.deepEqual(await bench.bodies(queue), ['a3']);
    },
  },
  {
    name: 'eight consumers never share a group, and lose nothing',
    run: async (bench) => {
      const queue = await bench.fifo();
      const bodies = Array.from(
        { length: 60 },
        (_, index) => `${'abcdef'.charAt(index % 6)}${index}`,
      );
      await sendAll(bench, queue, bodies);
      const done = await consumeExclusively(bench, queue, bodies.length);
      assert.deepEqual(done.toSorted(), bodies.toSorted());
      for (const group of 'abcdef') {
        const order = done
          .filter((body) => body.startsWith(group))
          .map((body) => Number(body.slice(1)));
        assert.deepEqual(
          order,
          order.toSorted((left, right) => left - right),
        );
      }
    },
  },
  {
    name: 'a long poll wakes when its group is unlocked',
    run: async (bench) => {
      const queue = await bench.fifo();
      await sendAll(bench, queue, ['a1', 'a2']);
      const [first] = await bench.receive(queue, { countMax: 1 });
      const waiting = bench.bodies(queue, { waitSeconds: 20 });
      await bench.remove(queue, first);
      const startMs = performance.now();
      assert.deepEqual(await waiting, ['a2']);
      assert.ok(performance.now() - startMs < 15_000, 'it only noticed at its end');
    },
  },
];

const deduplicationChecks: readonly Check<QueueBench>[] = [
  {
    name: 'a repeated deduplication id is accepted and not delivered, while queued and after the delete',
    run: async (bench) => {
      const queue = await bench.fifo();
      const original = await bench.send(queue, 'one', { id: 'same' });
      assert.equal(await bench.send(queue, 'two', { id: 'same' }), original);
      const [only, ...others] = await bench.receive(queue);
      assert.equal(only?.Body, 'one');
      assert.deepEqual(others, []);
      await bench.remove(queue, only);
      await bench.send(queue, 'three', { id: 'same' });
      assert.deepEqual(await bench.bodies(queue), []);
    },
  },
  {
    name: 'deduplication counts per message group where that is the scope',
    run: async (bench) => {
      const queue = await bench.fifo();
      await bench.send(queue, 'a1', { group: 'a', id: 'same' });
      await bench.send(queue, 'b1', { group: 'b', id: 'same' });
      assert.deepEqual((await bench.bodies(queue)).sort(), ['a1', 'b1']);
    },
  },
  {
    name: 'content-based deduplication takes the body for the id',
    run: async (bench) => {
      const queue = await bench.fifo({ ContentBasedDeduplication: 'true' });
      for (const MessageBody of ['x', 'x', 'y']) {
        await bench.client.send(
          new SendMessageCommand({ QueueUrl: queue.url, MessageBody, MessageGroupId: 'g' }),
        );
      }
      assert.deepEqual(await bench.bodies(queue), ['x', 'y']);
    },
  },
  {
    name: 'a send without a group, without an id, or with a delay of its own is refused',
    run: async (bench) => {
      const queue = await bench.fifo();
      const valid = { MessageGroupId: 'g', MessageDeduplicationId: randomUUID() };
      for (const parameters of [
        { ...valid, MessageGroupId: undefined },
        { ...valid, MessageDeduplicationId: undefined },
        { ...valid, DelaySeconds: 5 },
      ]) {
        const command = new SendMessageCommand({
          QueueUrl: queue.url,
          MessageBody: 'x',
          ...parameters,
        });
        await assert.rejects(bench.client.send(command), { $fault: 'client' });
      }
      assert.deepEqual(await bench.bodies(queue), []);
    },
  },
];

const returnChecks: readonly Check<QueueBench>[] = [
  {
    name: 'a stale receipt handle fails and deletes nothing',
    run: async (bench) => {
      const queue = await bench.fifo();
      await bench.send(queue, 'a1');
      const [stale] = await bench.receive(queue, { visibilitySeconds: 1 });
      const [current] = await bench.receive(queue, { waitSeconds: 20 });
      assert.equal(current?.Attributes?.['ApproximateReceiveCount'], '2');
      await assert.rejects(bench.remove(queue, stale), { $fault: 'client' });
      await bench.remove(queue, current);
      assert.deepEqual(await bench.bodies(queue), []);
    },
  },
  {
    name: 'visibility 0 returns a message at once, one by one or in a batch',
    run: async (bench) => {
      const queue = await bench.fifo();
      await sendAll(bench, queue, ['a1', 'b1']);
      const received = await bench.receive(queue);
      assert.equal(received.length, 2);
      await returnMessage(bench, queue, received[0]);
      const [again] = await bench.receive(queue);
      assert.equal(again?.Body, received[0]?.Body);
      await bench.client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: queue.url,
          Entries: [received[1], again].map((message, index) => ({
            Id: String(index),
            ReceiptHandle: message?.ReceiptHandle,
            VisibilityTimeout: 0,
          })),
        }),
      );
      assert.equal((await bench.bodies(queue)).length, 2);
    },
  },
  {
    name: 'a message received too often goes to the FIFO dead-letter queue',
    run: async (bench) => {
      const { queue, deadLetters } = await queueWithDeadLetters(bench);
      await bench.send(queue, 'poison');
      await exhaustHead(bench, queue);
      assert.deepEqual(await bench.bodies(queue), []);
      const [dead] = await bench.receive(deadLetters, { waitSeconds: 20 });
      assert.equal(dead?.Body, 'poison');
      assert.equal(dead?.Attributes?.['MessageGroupId'], 'g');
    },
  },
  {
    name: 'the receive that moves the head to the dead-letter queue delivers the next message',
    run: async (bench) => {
      const { queue } = await queueWithDeadLetters(bench);
      await bench.send(queue, 'poison');
      await bench.send(queue, 'good');
      await exhaustHead(bench, queue);
      assert.deepEqual(await bench.bodies(queue, { countMax: 1 }), ['good']);
    },
  },
];

/** The checks of a FIFO queue. */
export const fifoChecks: readonly Check<QueueBench>[] = [
  ...exclusivityChecks,
  ...deduplicationChecks,
  ...returnChecks,
];
