/**
 * A batch of hints: their keys' turns side by side, and none waits for the slowest (ADR 0048).
 *
 *   the turns of all lanes begin at once ──▶ ended ──▶ acknowledged by the answer
 *   all ended, something is still told ──▶ taken off the queue now, answered when it is told (ADR 0079)
 *   a second later ──▶ what ended is taken off the queue now, so that its group goes on without the others
 *                  ──▶ what has not begun goes back to its group: every run has nearly the whole time of an invocation
 *
 * A hint is acknowledged only when its run has ended, or it was sent again. Differs from one hint an invocation in
 * this: a process that ends takes up to ten runs with it, and one that is busy holds them up; so what was received
 * again and again is taken alone (plan-turns.ts). Never rejects because of a record.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { BackgroundWork } from '@rollcall/base/background-work.ts';
import type { RefusedBody } from '../../src/adapters/sqs/schema/refused-body.ts';
import type { Aside } from '../../src/app/reconcile/process/dependencies.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import type { HintQueue, HintReceipts } from '../../src/ports/queues/queue.ts';
import type { HandlerContext } from '../middleware.ts';
import { NoTimeLeftError, handleRecords } from '../records.ts';
import { planTurns, type Turn, type Turns } from './plan-turns.ts';
import { TimersTogether } from './timers-together.ts';
import { hintGroupId } from '../../src/adapters/sqs/queue-ids.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

/** What a run shares with its batch. */
export interface BesideRun {
  readonly aside: Aside;
  readonly queue: HintQueue;
}

export interface BatchWork {
  readonly context: HandlerContext;
  readonly clock: Clock;
  readonly queue: HintQueue;
  readonly receipts: HintReceipts;
  /** Keeps a body that is no hint. */
  readonly refuse: (record: SQSRecord, refusal: RefusedBody) => void;
  /** One run, whose timers leave with those of the runs beside it. A rejection lets the hint be delivered again. */
  readonly run: (hint: Hint, beside: BesideRun) => Promise<unknown>;
}

/** So long what ended waits for the others, and so late a turn begins, milliseconds. */
const TURNS_TOGETHER_MS = 1_000;

/** Takes every turn of a batch; answers which records must come again. */
export async function takeBatch(event: SQSEvent, work: BatchWork): Promise<SQSBatchResponse> {
  const turns = planTurns(event.Records);
  const batch = new BatchUnderWay(turns, work);
  try {
    const answers = [await refuseAll(turns.refused, work)];
    const { lanes, wary } = turns;
    answers.push(...(await sideBySide(lanes, lanes.length, (lane) => batch.take(lane, 'resent'))));
    for (const turn of wary) answers.push(await batch.take([turn], 'failed'));
    return { batchItemFailures: answers.flatMap(({ batchItemFailures }) => batchItemFailures) };
  } finally {
    await batch.end();
  }
}

function refuseAll(refused: Turns['refused'], work: BatchWork): Promise<SQSBatchResponse> {
  const refusals = new Map(refused.map(({ record, refusal }) => [record.messageId, refusal]));
  const event = { Records: refused.map(({ record }) => record) };
  return handleRecords(event, {
    order: 'unordered',
    context: work.context,
    handle: (record) => {
      const refusal = refusals.get(record.messageId);
      if (refusal !== undefined) work.refuse(record, refusal);
      return Promise.resolve();
    },
  });
}

/** What ended is gathered, and taken off the queue as soon as others take longer. */
class BatchUnderWay {
  readonly #work: BatchWork;
  /** When the first turn began; undefined: none has. */
  #begunMs: number | undefined;
  readonly #cancelLate: () => void;
  /** Turns that have not begun, and those that run. */
  #open: number;
  #running = 0;
  #isLate = false;
  #ended: SQSRecord[] = [];
  readonly #aside: BackgroundWork;
  readonly #timers: TimersTogether;
  readonly #beside: BesideRun;
  #finishing: Promise<void> = Promise.resolve();

  constructor({ lanes, wary }: Turns, work: BatchWork) {
    this.#work = work;
    const { log } = work.context;
    this.#aside = new BackgroundWork({
      log,
      failed: 'what a run left to the end of its batch failed',
    });
    this.#timers = new TimersTogether(work);
    this.#beside = {
      aside: (told) => {
        this.#aside.take(told);
      },
      queue: {
        sendHints: (...hints) => work.queue.sendHints(...hints),
        sendTimers: (timers) => this.#timers.sendTimers(timers),
      },
    };
    this.#open = lanes.flat().length + wary.length;
    this.#cancelLate = work.clock.after(TURNS_TOGETHER_MS, () => {
      this.#isLate = true;
      this.#finishEarly();
    });
  }

  /**
   * Takes turns one after the other; a failure ends them. `late`: what becomes of one that would begin too late. A
   * wary one fails: sent again it would be a new message, which nobody has received yet.
   */
  async take(turns: readonly Turn[], late: 'resent' | 'failed'): Promise<SQSBatchResponse> {
    const { context } = this.#work;
    const byId = new Map(turns.map((turn) => [turn.record.messageId, turn]));
    const { batchItemFailures } = await handleRecords(
      { Records: turns.map(({ record }) => record) },
      {
        order: 'fifo',
        context,
        handle: async ({ messageId }) => {
          const turn = byId.get(messageId);
          if (turn !== undefined) await this.#takeOne(turn, late);
        },
      },
    );
    const failed = batchItemFailures.flatMap(
      ({ itemIdentifier }) => byId.get(itemIdentifier)?.records ?? [],
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }

  /** Nothing of this batch runs on. What ended while something is told waits for that no longer. */
  async end(): Promise<void> {
    this.#cancelLate();
    if (!this.#aside.isOver) this.#finish();
    await this.#aside.ended();
    await this.#finishing;
  }

  async #takeOne(turn: Turn, late: 'resent' | 'failed'): Promise<void> {
    const { hint, record, records } = turn;
    const { clock, context, queue, run } = this.#work;
    const { log, metrics } = context;
    const nowMs = clock.monotonicMs();
    this.#begunMs ??= nowMs;
    const isTooLate = nowMs - this.#begunMs > TURNS_TOGETHER_MS;
    this.#open -= 1;
    if (isTooLate) {
      if (late === 'failed') throw new NoTimeLeftError('the batch took too long before it');
      const group = record.attributes.MessageGroupId ?? '';
      await queue.sendHints([hint], `again/${record.messageId}`, { group });
      metrics.count('HintsSentBack');
    } else {
      if (records.length > 1) metrics.count('HintsFolded', { by: records.length - 1 });
      this.#running += 1;
      await this.#timers
        .during(() => run(hint, this.#beside))
        .catch((error: unknown) => leaveGroup({ record, hint, error, queue, log }))
        .finally(() => (this.#running -= 1));
    }
    this.#ended.push(...records);
    if (this.#isLate) this.#finishEarly();
  }

  /** Only while others keep the answer waiting. What cannot be taken off now is acknowledged with the answer. */
  #finishEarly(): void {
    if (this.#open + this.#running > 0) this.#finish();
  }

  #finish(): void {
    const { receipts, context } = this.#work;
    const ended = this.#ended;
    if (ended.length === 0) return;
    this.#ended = [];
    const handles = ended.map(({ receiptHandle }) => receiptHandle);
    this.#finishing = this.#finishing
      .then(() => receipts.finish(handles))
      .catch((error: unknown) => {
        context.log.warn('hints that ended wait for the others of their batch', {}, error);
      });
  }
}

/** What failed, and how to send it on. */
export interface GroupFailure {
  readonly record: Pick<SQSRecord, 'messageId' | 'attributes'>;
  readonly hint: Hint;
  readonly error: unknown;
  readonly queue: Pick<HintQueue, 'sendHints'>;
  readonly log: Log;
}

/** Sends the hint on alone; throws the error when it is alone already, or cannot be sent. */
export async function leaveGroup({ record, hint, error, queue, log }: GroupFailure): Promise<void> {
  const { messageId, attributes } = record;
  if (attributes.MessageGroupId === hintGroupId(hint.key)) throw error;
  log.error('a hint leaves its lane and goes on alone', { messageId }, error);
  await queue.sendHints([hint], `alone/${messageId}`);
}
