/**
 * Moves dead letters over SQS: by a message move task, or one by one where there is none.
 *
 * One by one: received, sent, and only then deleted, so that a crash repeats a message and loses none.
 * A repeat of a hint is one more look. It ends when the queue gives nothing more, or after what was
 * there at its start: a message that dies again is not moved round for ever.
 */
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import type {
  DeadLetterMover,
  MovableQueue,
  MoveResult,
} from '../../ports/queues/dead-letter-mover.ts';

/** Options of a mover. */
export interface DeadLetterMoverOptions {
  readonly client: SQSClient;
  readonly queues: Readonly<
    Record<MovableQueue, { readonly deadLetterUrl: string; readonly sourceUrl: string }>
  >;
}

/** Emulators that have no move tasks answer one of these. */
const UNSUPPORTED = [
  'UnsupportedOperation',
  'InvalidAction',
  'UnknownOperationException',
  'UnknownOperation',
  'InvalidActionException',
];
const BATCH_MAX = 10;
const VISIBILITY_SECONDS = 60;

/** Moves over SQS. */
export function createDeadLetterMover({ client, queues }: DeadLetterMoverOptions): DeadLetterMover {
  return {
    move: async (queue) => {
      const { deadLetterUrl, sourceUrl } = queues[queue];
      const { arn, waiting } = await look(client, deadLetterUrl);
      if (waiting === 0) return { kind: 'empty' };
      try {
        await client.send(new StartMessageMoveTaskCommand({ SourceArn: arn }));
        return { kind: 'started', waiting };
      } catch (error) {
        if (!(error instanceof Error) || !UNSUPPORTED.includes(error.name)) throw error;
      }
      return moveOneByOne(client, { deadLetterUrl, sourceUrl, movesMax: waiting });
    },
  };
}

async function look(
  client: SQSClient,
  QueueUrl: string,
): Promise<{ readonly arn: string; readonly waiting: number }> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'],
    }),
  );
  const waiting = Number(Attributes['ApproximateNumberOfMessages'] ?? '0');
  return { arn: Attributes['QueueArn'] ?? '', waiting };
}

interface Move {
  readonly deadLetterUrl: string;
  readonly sourceUrl: string;
  readonly movesMax: number;
}

async function moveOneByOne(client: SQSClient, move: Move): Promise<MoveResult> {
  let moved = 0;
  while (moved < move.movesMax) {
    const { Messages: messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: move.deadLetterUrl,
        MaxNumberOfMessages: Math.min(BATCH_MAX, move.movesMax - moved),
        VisibilityTimeout: VISIBILITY_SECONDS,
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
    );
    if (messages.length === 0) break;
    for (const message of messages) {
      await moveOne(client, message, move);
      moved += 1;
    }
  }
  return { kind: 'moved', moved };
}

async function moveOne(client: SQSClient, message: Message, move: Move): Promise<void> {
  const group = message.Attributes?.MessageGroupId;
  const isFifo = move.sourceUrl.endsWith('.fifo');
  await client.send(
    new SendMessageCommand({
      QueueUrl: move.sourceUrl,
      MessageBody: message.Body,
      ...(group === undefined ? {} : { MessageGroupId: group }),
      // Of its own: the id that it had may be remembered for five minutes, and swallow it.
      ...(isFifo ? { MessageDeduplicationId: `move/${message.MessageId ?? ''}` } : {}),
    }),
  );
  await client.send(
    new DeleteMessageCommand({
      QueueUrl: move.deadLetterUrl,
      ReceiptHandle: message.ReceiptHandle,
    }),
  );
}
