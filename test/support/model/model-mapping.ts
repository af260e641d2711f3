/**
 * An event-source mapping as the model has it: a poller waits, so what is visible when one looks is a batch.
 *
 * Differs from the simulation's mapping in time alone: each send is looked for after a hop of its own, several pollers look
 * side by side, and a backlog is received as soon as there is a place. Assumes that places come as fast as they are needed
 * up to the declared cap; AWS adds some sixty pollers a minute to a standard queue, and says no figure for FIFO.
 */
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { InvocationEnd } from '../simulation/mapping.ts';
import type { QueueName, SimulatedQueues } from '../simulation/queues.ts';
import type { Latencies } from './assumed-latencies.ts';

export interface ModelMappingOptions {
  readonly queue: QueueName;
  readonly batchMax: number;
  readonly placesMax: number;
  readonly queues: SimulatedQueues;
  readonly clock: Clock;
  readonly latencies: Latencies;
  /** Hears of requests to SQS; receives that find nothing are not told. */
  readonly onRequests: (count: number) => void;
  readonly invoke: (deliveries: readonly Delivery[]) => Promise<InvocationEnd | undefined>;
}

const BILLED_BYTES = 64 * 1024;

export class ModelMapping {
  readonly placesMax: number;
  #running = 0;
  #wakeAtMs = Infinity;
  readonly #on: ModelMappingOptions;

  constructor(options: ModelMappingOptions) {
    this.#on = options;
    this.placesMax = options.placesMax;
  }

  /** Something was sent. */
  poke(): void {
    this.#lookAfter(this.#on.latencies.draw('hop'));
  }

  #lookAfter(delayMs: number): void {
    this.#on.clock.after(delayMs, () => {
      this.#look();
    });
  }

  #look(): void {
    const { queues, clock, queue: name, batchMax } = this.#on;
    const { queue } = queues.named(name);
    while (this.#running < this.placesMax) {
      const deliveries = queue.receive({ countMax: batchMax }, clock.nowMs());
      if (deliveries.length === 0) break;
      void this.#run(deliveries);
    }
    this.#wakeLater(queue.nextWakeAtMs());
  }

  /** For timers, and for what comes back when its visibility ends. */
  #wakeLater(atMs: number | undefined): void {
    const { clock } = this.#on;
    if (atMs === undefined || atMs >= this.#wakeAtMs) return;
    this.#wakeAtMs = atMs;
    clock.after(Math.max(1, atMs - clock.nowMs()), () => {
      if (this.#wakeAtMs === atMs) this.#wakeAtMs = Infinity;
      this.poke();
    });
  }

  async #run(deliveries: readonly Delivery[]): Promise<void> {
    const { queues, clock, latencies, queue, onRequests, invoke } = this.#on;
    const bytes = deliveries.reduce((sum, { message }) => sum + message.body.length, 0);
    onRequests(Math.max(1, Math.ceil(bytes / BILLED_BYTES)));
    this.#running += 1;
    const end = await invoke(deliveries);
    this.#running -= 1;
    const done = deliveries.filter(
      ({ message }) => end?.failed.includes(message.messageId) === false,
    );
    if (done.length > 0) {
      onRequests(1);
      clock.after(latencies.draw('send'), () => {
        for (const { receiptHandle } of done) queues.delete(queue, receiptHandle);
        // The next message of the same group, if one waits.
        this.#lookAfter(latencies.draw('receive'));
      });
    }
    this.#lookAfter(latencies.draw('receive'));
  }
}
