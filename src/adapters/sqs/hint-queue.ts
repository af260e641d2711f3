/**
 * HintQueue over SQS: hints to reconcile.fifo, timers to the delay queue, in batches.
 *
 * At-least-once: it resolves only when every entry was accepted; what is not rejects, and the caller fails its
 * record and is redelivered. Repeats are harmless: a hint only says *look again*, and deduplication ids swallow
 * most of them.
 */
import {
  DeleteMessageBatchCommand,
  type SQSClient,
  SendMessageBatchCommand,
  type BatchResultErrorEntry,
  type SendMessageBatchRequestEntry,
} from '@aws-sdk/client-sqs';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { HintQueue, HintReceipts } from '../../ports/queues/queue.ts';
import { encodeHint, encodeTimer } from './schema/hint-codec.ts';
import { hintDeduplicationId, hintGroupIds, timerGroupId } from './queue-ids.ts';
import { BatchesInFlight } from '@rollcall/base/system/batches-in-flight.ts';

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
      // A failed entry belongs to another invocation by now, or is acknowledged once more with the answer.
      await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    },
  };
}

export class QueueRejectionError extends Error {
  override readonly name = 'QueueRejectionError';
}

export type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** The outcome of one entry. `code`: of the last refusal. */
type Fate =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Pending {
  readonly entry: Entry;
  readonly attempt: number;
  readonly tell: (fate: Fate) => void;
}

interface Refused extends Pending {
  /** Absent: the answer does not name it. */
  readonly refusal: BatchResultErrorEntry | undefined;
}

const BATCH_ENTRIES_MAX = 10;
/** Requests under way. */
const IN_FLIGHT_MAX = 4;
const ATTEMPTS_MAX = 4;
const FIRST_DELAY_MS = 100;

interface SenderOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly clock: Clock;
}

/**
 * Messages of one queue: what is sent at the same moment travels in one SendMessageBatch (ADR 0048). What SQS did not
 * take is sent again a few times, beside what else there is to send by then. Nothing waits for company.
 */
export class BatchedSender {
  readonly #options: SenderOptions;
  readonly #flights = new BatchesInFlight<Pending>({
    inFlightMax: IN_FLIGHT_MAX,
    board: (pending) => ({
      batch: pending.slice(0, BATCH_ENTRIES_MAX),
      rest: pending.slice(BATCH_ENTRIES_MAX),
    }),
    send: (batch) => this.#sendOnce(batch),
  });

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Resolves when all were accepted; rejects when the last of them has its answer, and one was not. */
  async send(entries: readonly Entry[]): Promise<void> {
    const fates = await Promise.all(
      entries.map(
        (entry) =>
          new Promise<Fate>((tell) => {
            this.#flights.add({ entry, attempt: 1, tell });
          }),
      ),
    );
    const failed = fates.find(({ kind }) => kind === 'failed');
    if (failed?.kind === 'failed') throw failed.error;
    const refused = fates.filter((fate) => fate.kind === 'refused');
    if (refused.length === 0) return;
    const codes = [...new Set(refused.map(({ code }) => code))].join(', ');
    throw new QueueRejectionError(
      `the queue did not accept ${refused.length} of ${entries.length} entries: ${codes}`,
    );
  }

  /** Never rejects: the answer tells each caller. */
  async #sendOnce(batch: readonly Pending[]): Promise<void> {
    const { client, queueUrl } = this.#options;
    const Entries = batch.map(({ entry }, index) => ({ ...entry, Id: String(index) }));
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries });
    try {
      const { Successful = [], Failed = [] } = await client.send(command);
      const accepted = new Set(Successful.map(({ Id }) => Id));
      const refusals = new Map(Failed.map((failure) => [failure.Id, failure]));
      const refused: Refused[] = [];
      for (const [index, pending] of batch.entries()) {
        const id = String(index);
        // Also what the answer names nowhere: only "accepted" counts.
        if (accepted.has(id)) pending.tell({ kind: 'accepted' });
        else refused.push({ ...pending, refusal: refusals.get(id) });
      }
      if (refused.length > 0) void this.#sendAgain(refused);
    } catch (error) {
      // The client retries whole requests.
      for (const { tell } of batch) tell({ kind: 'failed', error });
    }
  }

  /** Sends once more, after a while, what may be taken yet. No request keeps its place meanwhile. */
  async #sendAgain(refused: readonly Refused[]): Promise<void> {
    const isOver = ({ attempt, refusal }: Refused): boolean =>
      refusal?.SenderFault === true || attempt === ATTEMPTS_MAX;
    for (const { tell, refusal } of refused.filter(isOver)) {
      tell({ kind: 'refused', code: refusal?.Code ?? 'unknown' });
    }
    const again = refused.filter((each) => !isOver(each));
    const [first] = again;
    if (first === undefined) return;
    await this.#options.clock.sleep(FIRST_DELAY_MS * 2 ** (first.attempt - 1));
    this.#flights.addLate(
      again.map(({ entry, attempt, tell }) => ({ entry, attempt: attempt + 1, tell })),
    );
  }
}
