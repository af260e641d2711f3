/**
 * One event-source mapping on virtual time: receives, invokes, deletes what was finished.
 *
 * A record that failed, or whose invocation was killed or frozen, comes back when its visibility ends.
 * What befalls a record (dropped, delivered again, its deletion lost) is decided by `fate`; when it is
 * looked for, by `delayMs`: groups overtake each other, messages of a group never do.
 */
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { QueueName, SimulatedQueues } from './queues.ts';

/** drop: lost for ever. copy: delivered once more, out of order. keep: deleted in vain. */
export type RecordFate = 'deliver' | 'drop' | 'copy' | 'keep';

/** How an invocation ended; `failed` names records that must come again. */
export interface InvocationEnd {
  readonly failed: readonly string[];
}

/** What a mapping runs on. */
export interface MappingOptions {
  readonly queues: SimulatedQueues;
  readonly clock: Clock;
  readonly queue: QueueName;
  readonly batchMax: number;
  /** Invocations at a time: maximumConcurrency. Default: no bound. */
  readonly concurrencyMax?: number;
  /** Called after each receive: what was received too often may have moved to the dead-letter queue. */
  readonly afterReceive?: () => void;
  readonly delayMs: () => number;
  readonly copyDelayMs: () => number;
  readonly fate: (queue: QueueName) => RecordFate;
  /** Resolves with undefined when the invocation was killed or frozen. */
  readonly invoke: (deliveries: readonly Delivery[]) => Promise<InvocationEnd | undefined>;
}

/** A mapping of one queue. */
export class SimulatedMapping {
  isPaused = false;
  /** Invocations at a time (maximumConcurrency): what waits for one stays in the queue. */
  concurrencyMax: number;
  /** Hears of messages that have to wait. */
  onFull: () => void = () => undefined;
  /** Invocations that are neither finished nor given up. */
  running = 0;
  /** Copies that will still be delivered. */
  copies = 0;
  readonly #on: MappingOptions;
  #isPollDue = false;

  constructor(options: MappingOptions) {
    this.#on = options;
    this.concurrencyMax = options.concurrencyMax ?? Infinity;
  }

  /** True while a record is waiting (timers that are not due do not count), or in flight. */
  get isBusy(): boolean {
    const { queues, clock, queue } = this.#on;
    const { visible, inFlight } = queues.named(queue).queue.counts(clock.nowMs());
    return this.running > 0 || this.copies > 0 || visible + inFlight > 0;
  }

  /** Looks for messages soon. */
  poke(): void {
    if (this.#isPollDue || this.isPaused) return;
    this.#isPollDue = true;
    this.#on.clock.after(this.#on.delayMs(), () => {
      this.#isPollDue = false;
      this.#poll();
    });
  }

  #poll(): void {
    const { queues, clock, queue: name, batchMax } = this.#on;
    if (this.isPaused) return;
    const { queue } = queues.named(name);
    const nowMs = clock.nowMs();
    if (this.running >= this.concurrencyMax) {
      // The end of an invocation looks again.
      if (queue.counts(nowMs).visible > 0) this.onFull();
      return;
    }
    const deliveries = queue.receive({ countMax: batchMax }, nowMs);
    this.#on.afterReceive?.();
    if (deliveries.length > 0) {
      this.#deliver(deliveries);
      this.poke();
      return;
    }
    const wakeAtMs = queue.nextWakeAtMs();
    if (wakeAtMs === undefined) return;
    clock.after(Math.max(1, wakeAtMs - nowMs), () => {
      this.poke();
    });
  }

  #deliver(received: readonly Delivery[]): void {
    const { queue, fate, clock, copyDelayMs } = this.#on;
    const deliveries: Delivery[] = [];
    const kept = new Set<string>();
    for (const delivery of received) {
      const record = fate(queue);
      if (record === 'drop') this.#delete(delivery);
      else deliveries.push(delivery);
      if (record === 'keep') kept.add(delivery.message.messageId);
      if (record !== 'copy') continue;
      this.copies += 1;
      clock.after(copyDelayMs(), () => {
        this.copies -= 1;
        void this.#run([delivery], { deletes: false, kept });
      });
    }
    if (deliveries.length > 0) void this.#run(deliveries, { deletes: true, kept });
  }

  async #run(
    deliveries: readonly Delivery[],
    options: { readonly deletes: boolean; readonly kept: ReadonlySet<string> },
  ): Promise<void> {
    this.running += 1;
    const end = await this.#on.invoke(deliveries);
    this.running -= 1;
    for (const delivery of deliveries) {
      const { messageId } = delivery.message;
      const isFinished = end !== undefined && !end.failed.includes(messageId);
      if (isFinished && options.deletes && !options.kept.has(messageId)) this.#delete(delivery);
    }
    this.poke();
  }

  #delete({ receiptHandle }: Delivery): void {
    this.#on.queues.delete(this.#on.queue, receiptHandle);
  }
}
