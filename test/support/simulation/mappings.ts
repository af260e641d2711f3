/** The event-source mappings of serverless.yml, as far as the simulation runs them. */
import type { FunctionHost } from './function-host.ts';
import { SimulatedMapping, type MappingOptions } from './mapping.ts';
import type { QueueName } from './queues.ts';

const DEAD_LETTERS: Readonly<Partial<Record<QueueName, QueueName>>> = {
  'events.fifo': 'events-dead.fifo',
  'reconcile.fifo': 'reconcile-dead.fifo',
  delay: 'delay-dead',
};

export interface MappingSurroundings extends Pick<
  MappingOptions,
  'queues' | 'clock' | 'copyDelayMs' | 'fate'
> {
  readonly host: FunctionHost;
  readonly delayMs: (queue: QueueName) => number;
}

export function createMappings(
  surroundings: MappingSurroundings,
): ReadonlyMap<QueueName, SimulatedMapping> {
  const { host, delayMs, ...shared } = surroundings;
  const mapped: readonly (readonly [QueueName, number, MappingOptions['invoke']])[] = [
    ['events.fifo', 10, (records) => host.ingest(records)],
    ['reconcile.fifo', 10, (records) => host.reconcile(records)],
    ['delay', 10, (records) => host.requeue(records)],
    ['events-dead.fifo', 10, (records) => host.deadLetter('events', records)],
    ['reconcile-dead.fifo', 10, (records) => host.deadLetter('reconcile', records)],
    ['delay-dead', 10, (records) => host.deadLetter('delay', records)],
  ];
  const mappings = new Map<QueueName, SimulatedMapping>();
  for (const [queue, batchMax, invoke] of mapped) {
    const dead = DEAD_LETTERS[queue];
    const afterReceive = (): void => {
      const mapping = dead === undefined ? undefined : mappings.get(dead);
      if (mapping?.isBusy === true) mapping.poke();
    };
    const options = { ...shared, queue, batchMax, invoke, afterReceive };
    mappings.set(queue, new SimulatedMapping({ ...options, delayMs: () => delayMs(queue) }));
  }
  return mappings;
}
