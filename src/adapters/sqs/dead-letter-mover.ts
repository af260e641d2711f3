/**
 * Moves messages that still wait in a dead-letter queue back to the queue that gave them up: by a message move
 * task of SQS, or one by one where there is none.
 *
 * Only hints and timers: they say *look again*, so neither order nor repeats matter. Events are never moved: they
 * would be out of order and of another sender; the function `dead-letter` takes them, and the view waits for a
 * snapshot (protocol 18). One by one: received, sent, and only then deleted, so that a crash loses none. It ends
 * when the queue gives nothing more, or after what was there at its start: a message that dies again is not moved
 * round for ever.
 */
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';

/** From where, and to where. */
export interface DeadLetterMove {
  readonly deadLetterUrl: string;
  readonly sourceUrl: string;
}

type MoveResult =
  /** SQS moves them by itself from now on. */
  | { readonly kind: 'started'; readonly waiting: number }
  | { readonly kind: 'moved'; readonly moved: number }
  | { readonly kind: 'empty' };

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

/** Moves what waits in a queue. Rejects when it fails; what was moved by then stays moved. */
export async function moveDeadLetters(
  client: SQSClient,
  move: DeadLetterMove,
): Promise<MoveResult> {
  const { arn, waiting } = await look(client, move.deadLetterUrl);
  if (waiting === 0) return { kind: 'empty' };
  try {
    await client.send(new StartMessageMoveTaskCommand({ SourceArn: arn }));
    return { kind: 'started', waiting };
  } catch (error) {
    if (!(error instanceof Error) || !UNSUPPORTED.includes(error.name)) throw error;
  }
  return moveOneByOne(client, move, waiting);
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

async function moveOneByOne(
  client: SQSClient,
  move: DeadLetterMove,
  movesMax: number,
): Promise<MoveResult> {
  let moved = 0;
  while (moved < movesMax) {
    const { Messages: messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: move.deadLetterUrl,
        MaxNumberOfMessages: Math.min(BATCH_MAX, movesMax - moved),
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

async function moveOne(client: SQSClient, message: Message, move: DeadLetterMove): Promise<void> {
  const isFifo = move.sourceUrl.endsWith('.fifo');
  await client.send(
    new SendMessageCommand({
      QueueUrl: move.sourceUrl,
      MessageBody: message.Body,
      MessageGroupId: message.Attributes?.MessageGroupId,
      // Of its own: the id that it had may be remembered for five minutes, and swallow it.
      MessageDeduplicationId: isFifo ? `move/${message.MessageId ?? ''}` : undefined,
    }),
  );
  await client.send(
    new DeleteMessageCommand({
      QueueUrl: move.deadLetterUrl,
      ReceiptHandle: message.ReceiptHandle,
    }),
  );
}
