/**
 * HintQueue over SQS: hints to reconcile.fifo, timers to the delay queue, in batches of ten.
 *
 * At-least-once: it resolves only when every entry was accepted. Entries that SQS did not take are
 * sent again a few times; what is left rejects, and the caller fails its record and is redelivered.
 * Repeats are harmless: a hint only says *look again*, and deduplication ids swallow most of them.
 */
import { DeleteMessageBatchCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { HintQueue, HintReceipts } from '../../ports/queues/queue.ts';
import { encodeHint, encodeTimer } from './schema/hint-codec.ts';
import { hintDeduplicationId, hintGroupIds, timerGroupId } from './queue-ids.ts';

interface HintQueueOptions {
  readonly client: SQSClient;
  readonly reconcileQueueUrl: string;
  readonly delayQueueUrl: string;
  readonly clock: Clock;
}

/** Entries that a queue did not accept. */
export class QueueRejectionError extends Error {
  override readonly name = 'QueueRejectionError';
}

type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

const BATCH_ENTRIES_MAX = 10;
const BATCHES_AT_ONCE_MAX = 4;
const ATTEMPTS_MAX = 4;
const FIRST_DELAY_MS = 100;
/** The longest delay that SQS offers; longer waits hop (design 3, requeue). */
export const DELAY_SECONDS_MAX = 900;

/** Sends hints and timers over SQS. */
export function createHintQueue(options: HintQueueOptions): HintQueue {
  const sendAll = async (queueUrl: string, entries: readonly Entry[]): Promise<void> => {
    const batches: Entry[][] = [];
    for (let start = 0; start < entries.length; start += BATCH_ENTRIES_MAX) {
      batches.push(entries.slice(start, start + BATCH_ENTRIES_MAX));
    }
    const remaining = batches.values();
    const work = async (): Promise<void> => {
      for (const batch of remaining) await sendBatch(options, queueUrl, batch);
    };
    const workers = Math.min(BATCHES_AT_ONCE_MAX, batches.length);
    await Promise.all(Array.from({ length: workers }, work));
  };
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
      await sendAll(options.reconcileQueueUrl, entries);
    },
    async sendTimers(timers) {
      const nowMs = options.clock.nowMs();
      const entries = timers.map((timer) => ({
        MessageBody: encodeTimer(timer),
        // On a standard queue this orders nothing: it makes the queue fair to the other clusters.
        MessageGroupId: timerGroupId(timer.hint.key),
        DelaySeconds: Math.min(
          DELAY_SECONDS_MAX,
          Math.max(0, Math.ceil((timer.dueAtMs - nowMs) / 1000)),
        ),
      }));
      await sendAll(options.delayQueueUrl, entries);
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

async function sendBatch(
  { client, clock }: HintQueueOptions,
  queueUrl: string,
  batch: readonly Entry[],
): Promise<void> {
  let pending = batch;
  for (let attempt = 1; ; attempt += 1) {
    const failed = await tryBatch(client, queueUrl, pending);
    if (failed.entries.length === 0) return;
    if (failed.isFinal || attempt === ATTEMPTS_MAX) {
      throw new QueueRejectionError(
        `the queue did not accept ${failed.entries.length} of ${batch.length} entries: ${failed.codes}`,
      );
    }
    pending = failed.entries;
    await clock.sleep(FIRST_DELAY_MS * 2 ** (attempt - 1));
  }
}

/** Sends once; gives the entries that were not accepted. The client retries whole requests. */
async function tryBatch(
  client: SQSClient,
  queueUrl: string,
  entries: readonly Entry[],
): Promise<{
  readonly entries: readonly Entry[];
  readonly isFinal: boolean;
  readonly codes: string;
}> {
  const answer = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: queueUrl,
      Entries: entries.map((entry, index) => ({ ...entry, Id: String(index) })),
    }),
  );
  const accepted = new Set((answer.Successful ?? []).map((entry) => entry.Id));
  const failures = answer.Failed ?? [];
  return {
    // Also what the answer names nowhere: only "accepted" counts.
    entries: entries.filter((_entry, index) => !accepted.has(String(index))),
    isFinal: failures.length > 0 && failures.every((failure) => failure.SenderFault === true),
    codes: [...new Set(failures.map((failure) => failure.Code ?? 'unknown'))].join(', '),
  };
}
