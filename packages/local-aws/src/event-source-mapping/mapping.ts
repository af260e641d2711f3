// One event-source mapping: receives from a queue, invokes a function, deletes what is done.
//
// It starts as Lambda makes a mapping: it reads its queue, and does not begin where the visibility is shorter than the
// function's timeout.
//
//   receive (long poll) ─▶ plan faults ─▶ invoke ─▶ delete the done ones
//        ▲ a few are always parked, as long as fewer batches are in work than the scaling allows
//
// A batch for which the account has no place is throttled, as Lambda does it: tried again as long as its messages are
// invisible, then left alone. Each of them has been received once more, whether or not the function ever ran.
//
// A failed batch is left alone: its messages come back when their visibility ends, which is Lambda's behaviour. Nothing
// polls: an idle mapping holds a few parked receives. Differs from Lambda: no back-off after errors, no batching window.
import type { SQSRecord } from 'aws-lambda';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { QueueMapping } from './declarations.ts';
import { readBatchOutcome } from './batch-outcome.ts';
import type { ConcurrencyLimits, Release } from './concurrency.ts';
import { planFaults, type FaultOptions, type FaultPlan } from './faults.ts';
import {
  invoke,
  type InvocationEnvironment,
  type InvocationOutcome,
  type LocalFunction,
} from './invocation.ts';
import { toSqsRecord, type RecordSource } from './lambda-event.ts';
import type { MappedQueue } from './mapped-queue.ts';
import { ScalingRamp } from './scaling.ts';
import type { WireMessage } from '../sqs/server/receive-request.ts';

/** Something that went wrong in a mapping, for a log or a test. */
export interface MappingFailure {
  readonly functionName: string;
  readonly queueName: string;
  readonly message: string;
  readonly error?: unknown;
}

/** What a mapping connects. */
export interface MappingOptions {
  readonly queue: MappedQueue;
  readonly queueName: string;
  readonly source: RecordSource;
  readonly mapping: QueueMapping;
  readonly target: LocalFunction;
  readonly environment: InvocationEnvironment;
  readonly limits: ConcurrencyLimits;
  readonly faults: FaultOptions | undefined;
  readonly random: Random;
  readonly onFailure: (failure: MappingFailure) => void;
}

const parkedCountMax = 5;
const receiveWaitSeconds = 20;
const errorPauseMs = 200;
const rampCheckMs = 1000;
/** Between two tries of a batch that was throttled. */
const throttlePauseMs = 1000;

/** A running mapping. */
export class EventSourceMapping {
  readonly #options: MappingOptions;
  readonly #ramp: ScalingRamp;
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #parkedCount = 0;
  #visibilityMs = 0;
  #cancelRampCheck: Cancel | undefined;

  constructor(options: MappingOptions) {
    this.#options = options;
    const isFifo = options.queueName.endsWith('.fifo');
    this.#ramp = new ScalingRamp(isFifo, options.mapping.maximumConcurrency);
  }

  /** Reads the queue's attributes, then starts to receive. */
  start(): void {
    void this.#startWhenReadable();
  }

  /** Stops to receive; resolves when what is in work has ended, however long that takes. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#cancelRampCheck?.();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #startWhenReadable(): Promise<void> {
    const { target, environment } = this.#options;
    while (!this.#abort.signal.aborted) {
      try {
        const visibilityMs = this.#options.queue.visibilityMs();
        this.#visibilityMs = visibilityMs;
        if (visibilityMs >= target.timeoutMs) this.#topUp();
        else this.#report(`not started: its queue’s visibility of ${visibilityMs} ms is too short`);
        return;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        this.#report('its queue cannot be read', error);
        await environment.clock.sleep(errorPauseMs, this.#abort.signal);
      }
    }
  }

  #topUp(): void {
    if (this.#abort.signal.aborted) return;
    const runningCount = this.#running.size;
    const limit = this.#ramp.limit(runningCount, this.#options.environment.clock.nowMs());
    while (this.#parkedCount < parkedCountMax && this.#parkedCount + runningCount < limit) {
      this.#parkedCount += 1;
      void this.#receiveOnce();
    }
    if (this.#ramp.isRamping(runningCount) && this.#cancelRampCheck === undefined) {
      this.#cancelRampCheck = this.#options.environment.clock.after(rampCheckMs, () => {
        this.#cancelRampCheck = undefined;
        this.#topUp();
      });
    }
  }

  /** A receive that failed keeps its place for a while: what is refused is not asked for over and over. */
  async #receiveOnce(): Promise<void> {
    let messages: readonly WireMessage[] = [];
    try {
      messages = await this.#options.queue.receive({
        countMax: this.#options.mapping.batchSize,
        waitSeconds: receiveWaitSeconds,
        signal: this.#abort.signal,
      });
    } catch (error) {
      this.#report('receiving failed', error);
      await this.#options.environment.clock.sleep(errorPauseMs, this.#abort.signal);
    }
    this.#parkedCount -= 1;
    if (messages.length > 0) this.#begin(messages);
    this.#topUp();
  }

  #begin(messages: readonly WireMessage[]): void {
    const work = this.#process(messages)
      .catch((error: unknown) => {
        this.#report('a batch could not be finished', error);
      })
      .finally(() => {
        this.#running.delete(work);
        this.#topUp();
      });
    this.#running.add(work);
  }

  async #process(messages: readonly WireMessage[]): Promise<void> {
    const release = await this.#admit();
    if (release === undefined) return;
    try {
      await this.#work(messages);
    } finally {
      release();
    }
  }

  /** A place to run in; undefined when there was none until the messages became visible again. */
  async #admit(): Promise<Release | undefined> {
    const { limits, target, environment } = this.#options;
    const { clock, counts } = environment;
    const leaseEndMs = clock.monotonicMs() + this.#visibilityMs;
    for (;;) {
      const release = limits.tryAcquire(target.name);
      if (release !== undefined) return release;
      counts.throttled += 1;
      if (clock.monotonicMs() + throttlePauseMs >= leaseEndMs) return undefined;
      await clock.sleep(throttlePauseMs, this.#abort.signal);
      if (this.#abort.signal.aborted) return undefined;
    }
  }

  async #work(messages: readonly WireMessage[]): Promise<void> {
    const { source, faults, random, environment } = this.#options;
    const received = messages.map((message) => toSqsRecord(message, source));
    const plan = planFaults(received, faults, random);
    if (plan.delayMs > 0) await environment.clock.sleep(plan.delayMs, this.#abort.signal);
    if (this.#abort.signal.aborted) return;
    if (plan.isDropped) {
      this.#delete(plan.records);
      return;
    }
    const done = await this.#deliver(plan);
    this.#delete(done);
    if (plan.duplication === 'after-delete') await this.#invoke(plan.records);
  }

  /** Delivers a batch once or twice; what the first delivery says counts. */
  async #deliver(plan: FaultPlan): Promise<readonly SQSRecord[]> {
    const first = this.#invoke(plan.records);
    const second = plan.duplication === 'concurrent' ? this.#invoke(plan.records) : undefined;
    const outcome = await first;
    await second;
    if (plan.duplication === 'before-delete') await this.#invoke(plan.records);
    return this.#doneOf(outcome, plan.records);
  }

  #invoke(records: readonly SQSRecord[]): Promise<InvocationOutcome> {
    const { target, environment } = this.#options;
    // Each delivery has objects of its own: a function may write into its event.
    return invoke(target, { Records: records.map((record) => ({ ...record })) }, environment);
  }

  #doneOf(outcome: InvocationOutcome, records: readonly SQSRecord[]): readonly SQSRecord[] {
    if (outcome.kind === 'threw') {
      this.#report('the function threw', outcome.error);
      return [];
    }
    if (outcome.kind === 'timed-out') {
      this.#report(`the function ran longer than ${this.#options.target.timeoutMs} ms`);
      return [];
    }
    const { reportsBatchItemFailures } = this.#options.mapping;
    const read = readBatchOutcome(outcome.answer, records, reportsBatchItemFailures);
    if (read.kind === 'answered') return read.done;
    this.#report(`the function's answer is malformed: ${read.reason}`);
    return [];
  }

  #delete(records: readonly SQSRecord[]): void {
    if (records.length === 0) return;
    const handles = records.map(({ receiptHandle }) => receiptHandle);
    const [refusal] = this.#options.queue.delete(handles);
    if (refusal !== undefined) this.#report(`a delete was refused: ${refusal}`);
  }

  #report(message: string, error?: unknown): void {
    const { target, queueName, onFailure } = this.#options;
    onFailure({ functionName: target.name, queueName, message, error });
  }
}
