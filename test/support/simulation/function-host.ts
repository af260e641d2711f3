/**
 * Runs the functions as Lambda does: warm processes, time-outs, crashes and freezes, on virtual time.
 *
 * The code of src/app and the stack around handlers (functions/middleware.ts, records.ts) are real; their ports pass a
 * gate, so that any await can be an invocation's last. A process that was killed or frozen is never used again for new
 * work; one whose invocation ran out of time is, and what was left of that goes on then, as in a sandbox that wakes up.
 * Handlers repeat what functions/* compose of ports: parse, call, report what failed.
 */
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { toIngestRecord } from '../../../functions/ingest-record.ts';
import {
  HandlerTimeoutError,
  createHandler,
  type HandlerContext,
} from '../../../functions/middleware.ts';
import { handleRecords } from '../../../functions/records.ts';
import { takeBatch, type BesideRun } from '../../../functions/reconcile/take-batch.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { parseHint, parseTimer } from '../../../src/adapters/sqs/schema/hint-codec.ts';
import { handleDeadLetter } from '../../../src/app/dead-letter/dead-letter.ts';
import { TALK_MS } from '../../../src/app/ingest/process/background-work.ts';
import {
  defaultIngestOptions,
  type IngestOptions,
  type IngestDependencies,
  type IngestProcessCache,
  createIngestProcessCache,
} from '../../../src/app/ingest/process/dependencies.ts';
import { ingestBatch } from '../../../src/app/ingest/ingest-batch.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import type { ReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { reconcileKey } from '../../../src/app/reconcile/reconcile-key.ts';
import {
  createProcessCache,
  type ProcessCache,
} from '../../../src/app/reconcile/process/process-cache.ts';
import {
  createResyncProcessCache,
  type ResyncProcessCache,
  WALK_RESERVE_MS,
  defaultResyncOptions,
} from '../../../src/app/resync/dependencies.ts';
import { requeueTimers } from '../../../src/app/requeue/requeue.ts';
import { resyncClusters } from '../../../src/app/resync/resync.ts';
import type { Hint, HintReason, Timer } from '../../../src/core/model/hint.ts';
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import type { HintQueue, HintReceipts } from '../../../src/ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { FreezeStore } from '../../../src/ports/stores/freeze-store.ts';
import type { FunctionRegistryStore } from '../../../src/ports/stores/registry-store.ts';
import type { NamespacedName, ViewStore } from '../../../src/ports/stores/view-store.ts';
import { MemoryLog, type LogLine } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { Gate, type GateRule } from './gate.ts';
import { gatedConnector } from './gated-connector.ts';
import { notedView, type NotedView } from './noted-view.ts';
import type { InvocationEnd } from './mapping.ts';

/** The functions of serverless.yml. */
export type FunctionName = 'ingest' | 'reconcile' | 'requeue' | 'resync' | 'dead-letter';

/** Time-outs as serverless.yml declares them. */
export const TIMEOUTS_MS: Readonly<Record<FunctionName, number>> = {
  ingest: 10_000,
  reconcile: 30_000,
  requeue: 10_000,
  resync: 30_000,
  'dead-letter': 10_000,
};

interface Process {
  readonly ingestProcessCache: IngestProcessCache;
  readonly processCache: ProcessCache;
  readonly resyncProcessCache: ResyncProcessCache;
  /** An invocation that had run out of time: it stands still until the process is used again (rows 21, 30). */
  left?: Gate;
}

interface InvocationPorts {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly registry: FunctionRegistryStore;
  readonly freezes: FreezeStore;
  readonly view: ViewStore;
  readonly queue: HintQueue;
  readonly receipts: HintReceipts;
  readonly process: Process;
}

/** An invocation, with what the real stack around handlers gives it. */
interface Invocation extends InvocationPorts {
  readonly context: HandlerContext;
}

export interface HostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: InvocationPorts['registry'];
  readonly freezes: FreezeStore;
  readonly view: ViewStore;
  /** A queue and a connector for one invocation, made with its clock. */
  readonly hintQueue: (clock: Clock) => HintQueue;
  readonly receipts: HintReceipts;
  readonly connector: (key: NamespacedName, noted?: NotedView) => ClusterConnector;
  readonly reconcile?: Partial<ReconcileOptions>;
  readonly ingest?: Partial<IngestOptions>;
  readonly note: (text: string) => void;
  /** Hears of each run of a key, and who asked for it. */
  readonly onRun?: (name: string, reason: HintReason) => void;
}

const policies = createPolicyReader();

/** Runs invocations. */
export class FunctionHost {
  /** The rule of the next invocation's gate, by function. */
  ruleFor: (name: FunctionName) => GateRule | undefined = () => undefined;
  readonly metrics = new MemoryMetrics();
  readonly log = new MemoryLog();
  /** Frozen invocations, oldest first. */
  readonly frozen: Gate[] = [];
  /** Results of `reconcile`, newest last: `key kind code`. */
  readonly results: string[] = [];
  /** What handlers rejected with. */
  readonly failures: unknown[] = [];
  invocations = 0;
  /** Invocations that had run out of time, and went on in a later one of their process. */
  woken = 0;
  readonly #on: HostOptions;
  readonly #idle: Process[] = [];
  readonly #running = new Set<Gate>();

  constructor(options: HostOptions) {
    this.#on = options;
  }

  /** All warm processes are gone: the next invocations start cold. */
  coolDown(): void {
    this.#idle.length = 0;
  }

  /** Everything that runs is gone at once, frozen or not. */
  killAll(): void {
    for (const gate of this.#running) gate.kill();
    this.#running.clear();
    this.coolDown();
  }

  /** Lines of one level that the functions wrote. */
  lines(level: LogLine['level']): readonly LogLine[] {
    return this.log.at(level);
  }

  /** Invokes `ingest`. */
  ingest(deliveries: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    return this.#invoke('ingest', deliveries, async (event, invocation) => {
      const { failedMessageIds, results } = await ingestBatch(
        event.Records.map(toIngestRecord),
        this.#ingestOn(invocation),
        () => invocation.context.remainingMs() > TALK_MS + 1000,
      );
      const kinds = [...results.values()].map((result) =>
        'reason' in result ? `${result.kind}/${result.reason}` : result.kind,
      );
      this.#on.note(`ingest ${kinds.join(' ')}`);
      return failures(failedMessageIds);
    });
  }

  /** Invokes `reconcile` with a batch of hints. */
  reconcile(deliveries: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    return this.#invoke('reconcile', deliveries, (event, invocation) => {
      const { clock, queue, receipts, context } = invocation;
      return takeBatch(event, {
        ...{ context, clock, queue, receipts },
        refuse: () => undefined,
        run: (hint, beside) => this.#reconcileOne(hint, beside, invocation),
      });
    });
  }

  /** Invokes `requeue`. */
  requeue(deliveries: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    return this.#invoke('requeue', deliveries, async (event, { queue, clock, view }) => {
      const timers = event.Records.flatMap(
        ({ body, messageId }): { id: string; timer: Timer }[] => {
          const parsed = parseTimer(body);
          return parsed.kind === 'timer' ? [{ id: messageId, timer: parsed.timer }] : [];
        },
      );
      const outcomes = await requeueTimers(
        timers.map(({ timer }) => timer),
        { queue, clock, view, log: this.log, metrics: this.metrics },
      );
      const failed = timers.filter((_, index) => outcomes[index]?.kind === 'failed');
      return failures(failed.map(({ id }) => id));
    });
  }

  /** Invokes `dead-letter` for one of the three queues. */
  deadLetter(
    queue: 'events' | 'reconcile' | 'delay',
    deliveries: readonly Delivery[],
  ): Promise<InvocationEnd | undefined> {
    return this.#invoke('dead-letter', deliveries, (event, invocation) =>
      handleRecords(event, {
        order: queue === 'delay' ? 'unordered' : 'fifo',
        context: invocation.context,
        handle: async (record) => {
          const { messageId, body } = record;
          const letter =
            queue === 'events'
              ? { queue, ...toIngestRecord(record) }
              : { queue, messageId, ...lostHintOf(queue, body) };
          const ports = { ...this.#ingestOn(invocation), queue: invocation.queue };
          const result = await handleDeadLetter(letter, ports);
          this.#on.note(`dead-letter ${result.kind}`);
        },
      }),
    );
  }

  /** Invokes `resync` as its schedule does. */
  resync(): Promise<InvocationEnd | undefined> {
    return this.#invoke('resync', [], async (_event, invocation) => {
      const { registry, view, queue, clock, gate, context } = invocation;
      await resyncClusters(
        { deadlineMs: clock.monotonicMs() + context.remainingMs() - WALK_RESERVE_MS },
        {
          registry,
          view,
          connector: gate.around('connector', this.#on.connector({ namespace: '', name: '' })),
          queue,
          processCache: invocation.process.resyncProcessCache,
          clock,
          random: this.#on.random,
          log: this.log,
          metrics: this.metrics,
          options: defaultResyncOptions,
        },
      );
      return failures([]);
    });
  }

  async #reconcileOne(hint: Hint, beside: BesideRun, invocation: Invocation): Promise<void> {
    const { gate, clock, registry, freezes, view, process, context } = invocation;
    const { aside, queue } = beside;
    const noted = notedView(view, this.#on.clock);
    this.#on.onRun?.(hint.key.name, hint.reason);
    try {
      const result = await reconcileKey(
        hint,
        { deadlineMs: clock.monotonicMs() + context.remainingMs(), signal: context.signal, aside },
        {
          registry,
          freezes,
          view: noted.view,
          connector: gatedConnector(this.#on.connector(hint.key, noted), gate),
          queue,
          clock,
          random: this.#on.random,
          log: this.log.with({ name: hint.key.name }),
          metrics: this.metrics,
          options: { ...defaultReconcileOptions, ...this.#on.reconcile },
          cache: process.processCache,
          policies,
        },
      );
      const code = 'code' in result ? ` ${result.code}` : '';
      this.results.push(`${hint.key.name} ${result.kind}${code}`);
      this.#on.note(`reconcile ${hint.key.name} ${hint.reason} ${result.kind}${code}`);
    } catch (error) {
      this.failures.push(error);
      this.#on.note(`reconcile ${hint.key.name} failed: ${String(error)}`);
      throw error;
    }
  }

  #ingestOn(invocation: Invocation): IngestDependencies {
    const { clock, registry, view, queue, process, gate } = invocation;
    return {
      registry,
      view,
      connector: gatedConnector(this.#on.connector({ namespace: '', name: '' }), gate),
      queue,
      clock,
      random: this.#on.random,
      log: this.log,
      metrics: this.metrics,
      options: { ...defaultIngestOptions, ...this.#on.ingest },
      processCache: process.ingestProcessCache,
    };
  }

  /** Resolves when the handler is done, or the invocation is gone: then with undefined. */
  #invoke(
    name: FunctionName,
    deliveries: readonly Delivery[],
    handle: Handle,
  ): Promise<InvocationEnd | undefined> {
    const { clock } = this.#on;
    const process: Process = this.#idle.pop() ?? {
      ingestProcessCache: createIngestProcessCache(),
      processCache: createProcessCache(),
      resyncProcessCache: createResyncProcessCache(),
    };
    if (process.left !== undefined) this.woken += 1;
    process.left?.thaw();
    delete process.left;
    this.invocations += 1;
    return new Promise((resolve) => {
      let isOver = false;
      const gate = new Gate(clock, (how) => {
        if (isOver) return;
        this.#on.note(`${name} ${how}`);
        if (how === 'frozen') this.frozen.push(gate);
        resolve(undefined);
      });
      gate.rule = this.ruleFor(name);
      this.#running.add(gate);
      const cancel = clock.after(TIMEOUTS_MS[name], () => {
        if (!gate.isFrozen) gate.kill();
      });
      const finish = (end: InvocationEnd | undefined): void => {
        cancel();
        isOver = true;
        this.#running.delete(gate);
        if (!gate.isDead && !this.frozen.includes(gate)) this.#idle.push(process);
        resolve(end);
      };
      this.#run(name, { gate, process, event: toSqsEvent(deliveries), handle }).then(
        (response) => {
          finish({ failed: response.batchItemFailures.map((one) => one.itemIdentifier) });
        },
        (error: unknown) => {
          this.failures.push(error);
          this.#on.note(`${name} failed: ${String(error)}`);
          finish(undefined);
          if (!(error instanceof HandlerTimeoutError) || gate.isDead) return;
          // Lambda lets the sandbox stand still as soon as it has its answer.
          gate.freeze();
          process.left = gate;
        },
      );
    });
  }

  /** Calls the handler through the stack that is deployed, on the clock of its sandbox. */
  #run(
    name: FunctionName,
    work: {
      readonly gate: Gate;
      readonly process: Process;
      readonly event: SQSEvent;
      readonly handle: Handle;
    },
  ): Promise<SQSBatchResponse> {
    const { registry, freezes, view, receipts } = this.#on;
    const { gate, process, event, handle } = work;
    const clock = gate.clock();
    const ports: InvocationPorts = {
      gate,
      clock,
      registry: gate.around('registry', registry),
      // It travels with the registration, which passes the gate.
      freezes,
      view: gate.around('view', view),
      queue: gate.around('queue', this.#on.hintQueue(clock)),
      receipts: gate.around('receipts', receipts),
      process,
    };
    const handler = createHandler<SQSEvent, SQSBatchResponse>(
      { name, handle: (given, context) => handle(given, { ...ports, context }) },
      {
        sinks: { log: this.log, metrics: this.metrics },
        // Timers of a sandbox that stands still, or is gone, do not fire.
        clock: {
          after: (delayMs, callback) =>
            this.#on.clock.after(delayMs, () => {
              if (!gate.isFrozen && !gate.isDead) callback();
            }),
        },
      },
    );
    const endsMs = clock.monotonicMs() + TIMEOUTS_MS[name];
    const context = { getRemainingTimeInMillis: () => endsMs - clock.monotonicMs() };
    return handler(event, context as Context); // what the stack reads of it
  }
}

type Handle = (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse>;

function failures(messageIds: readonly string[]): SQSBatchResponse {
  return { batchItemFailures: messageIds.map((itemIdentifier) => ({ itemIdentifier })) };
}

/** What a lost hint or timer was about, as functions/dead-letter reads it. */
function lostHintOf(queue: 'reconcile' | 'delay', body: string): { readonly lost?: Hint } {
  if (queue === 'delay') {
    const parsed = parseTimer(body);
    return parsed.kind === 'timer' ? { lost: parsed.timer.hint } : {};
  }
  const parsed = parseHint(body);
  return parsed.kind === 'hint' ? { lost: parsed.hint } : {};
}

/** The event of a batch. Of digests and receive counts, which no handler reads, there is nothing. */
function toSqsEvent(deliveries: readonly Delivery[]): SQSEvent {
  return { Records: deliveries.map(toRecord) };
}

function toRecord({ message, receiptHandle }: Delivery): SQSRecord {
  const { messageId, body, groupId, attributes = {} } = message;
  return {
    messageId,
    receiptHandle,
    body,
    attributes: {
      SenderId: message.senderId,
      SentTimestamp: String(message.sentAtMs),
      ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
      ApproximateReceiveCount: String(message.receiveCount),
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs ?? 0),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { DataType, StringValue }]) => [
        name,
        {
          dataType: DataType,
          ...(StringValue === undefined ? {} : { stringValue: StringValue }),
        },
      ]),
    ),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  };
}
