/** What the tests of a queue share: queues with counted ids, messages with a group, and a replay of what was recorded. */
import { bodyDigest } from '../../../src/sqs/queue/digest.ts';
import type { QueueFact } from '../../../src/sqs/queue/journal.ts';
import type { NewMessage, StoredMessage } from '../../../src/sqs/queue/message.ts';
import { parseQueueSettings } from '../../../src/sqs/queue/queue-settings.ts';
import { Queue } from '../../../src/sqs/queue/queue.ts';

/** A queue with what it recorded and what it gave to its dead-letter queue. */
export interface TestQueue {
  readonly queue: Queue;
  readonly facts: QueueFact[];
  readonly deadLetters: StoredMessage[];
}

let saltCount = 0;

/** A FIFO queue with deduplication per group, unless `attributes` say otherwise. */
export function fifoQueue(attributes: Record<string, string> = {}): TestQueue {
  return testQueue('test.fifo', {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    VisibilityTimeout: '30',
    ...attributes,
  });
}

/** A standard queue. */
export function standardQueue(attributes: Record<string, string> = {}): TestQueue {
  return testQueue('test', { VisibilityTimeout: '30', ...attributes });
}

function testQueue(name: string, attributes: Record<string, string>): TestQueue {
  const facts: QueueFact[] = [];
  const deadLetters: StoredMessage[] = [];
  let idCount = 0;
  saltCount += 1;
  const queue = new Queue({
    settings: parseQueueSettings(name, attributes),
    newMessageId: () => `message-${String((idCount += 1))}`,
    handleSalt: `salt${String(saltCount)}`,
    moveToDeadLetter: (message) => {
      deadLetters.push(message);
      return true;
    },
    record: (fact) => facts.push(structuredClone(fact)),
  });
  return { queue, facts, deadLetters };
}

/** A redrive policy for `fifoQueue` and `standardQueue`. */
export function redriveAfter(maxReceiveCount: number): Record<string, string> {
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  return { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }) };
}

/** A message; without a deduplication id of its own it takes its body. */
export function message(body: string, more: Partial<NewMessage> = {}): NewMessage {
  return {
    body,
    bodyMd5: bodyDigest(body),
    senderId: 'AROATEST:session',
    groupId: 'g',
    deduplicationId: body,
    ...more,
  };
}

/** The bodies that one receive gives. */
export function receiveBodies({ queue }: TestQueue, nowMs: number, countMax = 10): string[] {
  return queue.receive({ countMax }, nowMs).map((delivery) => delivery.message.body);
}

/** The receipt handles that one receive gives. */
export function receiveHandles({ queue }: TestQueue, nowMs: number, countMax = 10): string[] {
  return queue.receive({ countMax }, nowMs).map(({ receiptHandle }) => receiptHandle);
}
