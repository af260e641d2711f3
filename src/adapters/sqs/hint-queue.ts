/**
 * HintQueue over SQS: hints to reconcile.fifo, timers to the delay queue, in batches (batched-sender.ts).
 *
 * At-least-once: it resolves only when every entry was accepted; what is not rejects, and the caller fails its
 * record and is redelivered. Repeats are harmless: a hint only says *look again*, and deduplication ids swallow
 * most of them.
 */
import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { HintQueue, HintReceipts } from '../../ports/queues/queue.ts';
import { BatchedSender } from './batched-sender.ts';
import { encodeHint, encodeTimer } from './schema/hint-codec.ts';
import { hintDeduplicationId, hintGroupIds, timerGroupId } from './queue-ids.ts';

interface HintQueueOptions {
  readonly client: SQSClient;
  readonly reconcileQueueUrl: string;
  readonly delayQueueUrl: string;
  readonly clock: Clock;
}

/** The longest delay that SQS offers; longer waits hop (design 3, requeue). */
export const DELAY_SECONDS_MAX = 900;

/** Sends hints and timers over SQS. */
export function createHintQueue(options: HintQueueOptions): HintQueue {
  const { client, clock } = options;
  const hintSender = new BatchedSender({ client, clock, queueUrl: options.reconcileQueueUrl });
  const timerSender = new BatchedSender({ client, clock, queueUrl: options.delayQueueUrl });
  return {
    async sendHints(hints, deduplicationPrefix, pace = 'usual') {
      const groups = hintGroupIds(
        hints.map(({ key }) => key),
        pace,
      );
      const entries = hints.map((hint, index) => ({
        MessageBody: encodeHint(hint),
        MessageGroupId: groups[index],
        MessageDeduplicationId: hintDeduplicationId(deduplicationPrefix, hint.key),
      }));
      await hintSender.send(entries);
    },
    async sendTimers(timers) {
      const nowMs = clock.nowMs();
      const entries = timers.map((timer) => ({
        MessageBody: encodeTimer(timer),
        // On a standard queue this orders nothing: it makes the queue fair to the other clusters.
        MessageGroupId: timerGroupId(timer.hint.key),
        DelaySeconds: Math.min(
          DELAY_SECONDS_MAX,
          Math.max(0, Math.ceil((timer.dueAtMs - nowMs) / 1000)),
        ),
      }));
      await timerSender.send(entries);
    },
  };
}

/** Receipts of reconcile.fifo. */
export function createHintReceipts({
  client,
  reconcileQueueUrl: QueueUrl,
}: Pick<HintQueueOptions, 'client' | 'reconcileQueueUrl'>): HintReceipts {
  return {
    async finish(receiptHandles) {
      const Entries = receiptHandles.map((ReceiptHandle, index) => ({
        Id: String(index),
        ReceiptHandle,
      }));
      // Entries that fail belong to somebody else by now, or are acknowledged once more with the answer.
      await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    },
  };
}
