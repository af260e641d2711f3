/**
 * Runs the functions as Lambda does: warm processes, time-outs, crashes and freezes, on virtual time.
 *
 * The code of src/app is real; its ports pass a gate, so that any await can be an invocation's last.
 * A process that was killed or frozen is never used again for new work. Handlers repeat what
 * functions/ does without middy and Powertools: parse, call, report what failed.
 */
import { parseHint, parseTimer } from '../../../src/adapters/sqs/hint-codec.ts';
import { handleDeadLetter } from '../../../src/app/dead-letter.ts';
import { defaultIngestOptions } from '../../../src/app/ingest/dependencies.ts';
import type { IngestDependencies } from '../../../src/app/ingest/dependencies.ts';
import { ingestBatch } from '../../../src/app/ingest/ingest-batch.ts';
import { createIngestWarmth } from '../../../src/app/ingest/warmth.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/dependencies.ts';
import type { ReconcileOptions } from '../../../src/app/reconcile/dependencies.ts';
import { reconcileKey } from '../../../src/app/reconcile/reconcile-key.ts';
import { createReconcileWarmth } from '../../../src/app/reconcile/warmth.ts';
import { requeueTimers } from '../../../src/app/requeue.ts';
import { resyncClusters } from '../../../src/app/resync.ts';
import { defaultResyncOptions } from '../../../src/app/resync/dependencies.ts';
import type { Hint, HintReason, Timer } from '../../../src/core/model/hint.ts';
import type { Delivery } from '../../../src/local/aws/sqs/message.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { ClusterConnector } from '../../../src/ports/cluster-access.ts';
import type { HintQueue } from '../../../src/ports/queue.ts';
import type { Random } from '../../../src/ports/random.ts';
import type { RegistryStore } from '../../../src/ports/registry-store.ts';
import type { NamespacedName, ViewStore } from '../../../src/ports/view-store.ts';
import { MemoryLog } from '../memory-log.ts';
import type { LogLine } from '../memory-log.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { Gate } from './gate.ts';
import type { GateRule } from './gate.ts';
import { gatedConnector } from './gated-connector.ts';
import { toIngestRecord } from './ingest-record.ts';
import { notedView } from './noted-view.ts';
import type { NotedView } from './noted-view.ts';
import type { Invocation, Process } from './invocation.ts';
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

/** Before its time-out an invocation is told to stop (functions/middleware.ts). */
const STOP_RESERVE_MS = 700;

/** What the host runs on. */
export interface HostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: RegistryStore;
  readonly view: ViewStore;
  /** A queue and a connector for one invocation, made with its clock. */
  readonly hintQueue: (clock: Clock) => HintQueue;
  readonly connector: (key: NamespacedName, noted?: NotedView) => ClusterConnector;
  readonly reconcile?: Partial<ReconcileOptions>;
  readonly note: (text: string) => void;
  /** Hears of each run of a key, and who asked for it. */
  readonly onRun?: (name: string, reason: HintReason) => void;
}

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
    return this.#invoke('ingest', async (invocation) => {
      const records = deliveries.map(toIngestRecord);
      const { failedMessageIds, results } = await ingestBatch(records, this.#ingestOn(invocation));
      const kinds = [...results.values()].map((result) =>
        'reason' in result ? `${result.kind}/${result.reason}` : result.kind,
      );
      this.#on.note(`ingest ${kinds.join(' ')}`);
      return { failed: failedMessageIds };
    });
  }

  /** Invokes `reconcile` with one record. */
  reconcile(deliveries: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    return this.#invoke('reconcile', async (invocation) => {
      const failed: string[] = [];
      for (const { message } of deliveries) {
        const parsed = parseHint(message.body);
        if (parsed.kind === 'refused') continue;
        if (!(await this.#reconcileOne(parsed.hint, invocation))) failed.push(message.messageId);
      }
      return { failed };
    });
  }

  /** Invokes `requeue`. */
  requeue(deliveries: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    return this.#invoke('requeue', async ({ queue, clock, view }) => {
      const timers = deliveries.flatMap(({ message }): { id: string; timer: Timer }[] => {
        const parsed = parseTimer(message.body);
        return parsed.kind === 'timer' ? [{ id: message.messageId, timer: parsed.timer }] : [];
      });
      const outcomes = await requeueTimers(
        timers.map(({ timer }) => timer),
        { queue, clock, view, log: this.log, metrics: this.metrics },
      );
      const failed = timers.filter((_, index) => outcomes[index]?.kind === 'failed');
      return { failed: failed.map(({ id }) => id) };
    });
  }

  /** Invokes `dead-letter` for one of the three queues. */
  deadLetter(
    queue: 'events' | 'reconcile' | 'delay',
    deliveries: readonly Delivery[],
  ): Promise<InvocationEnd | undefined> {
    return this.#invoke('dead-letter', async (invocation) => {
      for (const delivery of deliveries) {
        const { message } = delivery;
        const { messageId, sentAtMs, body } = message;
        const letter =
          queue === 'events'
            ? { queue, ...toIngestRecord(delivery) }
            : { queue, messageId, sentAtMs, body, ...lostHintOf(queue, body) };
        const ports = { ...this.#ingestOn(invocation), queue: invocation.queue };
        const result = await handleDeadLetter(letter, ports);
        this.#on.note(`dead-letter ${result.kind}`);
      }
      return { failed: [] };
    });
  }

  /** Invokes `resync` as its schedule does. */
  resync(): Promise<InvocationEnd | undefined> {
    return this.#invoke('resync', async (invocation) => {
      const { registry, view, queue, clock, gate, deadlineMs } = invocation;
      await resyncClusters(
        { deadlineMs: deadlineMs - 5000 },
        {
          registry,
          view,
          connector: gate.around('connector', this.#on.connector({ namespace: '', name: '' })),
          queue,
          clock,
          random: this.#on.random,
          log: this.log,
          metrics: this.metrics,
          options: defaultResyncOptions,
        },
      );
      return { failed: [] };
    });
  }

  async #reconcileOne(
    hint: Parameters<typeof reconcileKey>[0],
    invocation: Invocation,
  ): Promise<boolean> {
    const { gate, clock, registry, view, queue, process, deadlineMs, signal } = invocation;
    const noted = notedView(view, this.#on.clock);
    this.#on.onRun?.(hint.key.name, hint.reason);
    try {
      const result = await reconcileKey(
        hint,
        { deadlineMs, signal },
        {
          registry,
          view: noted.view,
          connector: gatedConnector(this.#on.connector(hint.key, noted), gate),
          queue,
          clock,
          random: this.#on.random,
          log: this.log.with({ name: hint.key.name }),
          metrics: this.metrics,
          options: { ...defaultReconcileOptions, ...this.#on.reconcile },
          warmth: process.reconcileWarmth,
        },
      );
      const code = 'code' in result ? ` ${result.code}` : '';
      this.results.push(`${hint.key.name} ${result.kind}${code}`);
      this.#on.note(`reconcile ${hint.key.name} ${hint.reason} ${result.kind}${code}`);
      return true;
    } catch (error) {
      this.failures.push(error);
      this.#on.note(`reconcile ${hint.key.name} failed: ${String(error)}`);
      return false;
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
      options: defaultIngestOptions,
      warmth: process.ingestWarmth,
    };
  }

  /** Resolves when the handler is done, or the invocation is gone: then with undefined. */
  #invoke(
    name: FunctionName,
    handle: (invocation: Invocation) => Promise<InvocationEnd>,
  ): Promise<InvocationEnd | undefined> {
    const { clock, registry, view } = this.#on;
    const process = this.#idle.pop() ?? {
      ingestWarmth: createIngestWarmth(),
      reconcileWarmth: createReconcileWarmth(),
    };
    this.invocations += 1;
    return new Promise((resolve) => {
      const gate = new Gate(clock, (how) => {
        this.#on.note(`${name} ${how}`);
        if (how === 'frozen') this.frozen.push(gate);
        resolve(undefined);
      });
      gate.rule = this.ruleFor(name);
      this.#running.add(gate);
      const ownClock = gate.clock();
      const stop = new AbortController();
      const timeoutMs = TIMEOUTS_MS[name];
      const cancels = [
        clock.after(timeoutMs - STOP_RESERVE_MS, () => {
          if (!gate.isFrozen) stop.abort();
        }),
        clock.after(timeoutMs, () => {
          if (!gate.isFrozen) gate.kill();
        }),
      ];
      const invocation: Invocation = {
        gate,
        clock: ownClock,
        registry: gate.around('registry', registry),
        view: gate.around('view', view),
        queue: gate.around('queue', this.#on.hintQueue(ownClock)),
        process,
        deadlineMs: ownClock.monotonicMs() + timeoutMs,
        signal: stop.signal,
      };
      const finish = (end: InvocationEnd | undefined): void => {
        for (const cancel of cancels) cancel();
        this.#running.delete(gate);
        if (!gate.isDead && !this.frozen.includes(gate)) this.#idle.push(process);
        resolve(end);
      };
      handle(invocation).then(finish, (error: unknown) => {
        this.failures.push(error);
        this.#on.note(`${name} failed: ${String(error)}`);
        finish(undefined);
      });
    });
  }
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
