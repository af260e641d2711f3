// All mappings and schedules of a service, started and stopped together.
//
// Assumes every declared function has a handler: a missing one is an error, not a mapping that silently does not
// run. Stopping first ends all receiving, then waits for what is in work, up to a bound; what is left by then is
// abandoned in flight and comes back when its visibility ends.
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { localAccountId } from '../sqs/server/broker.ts';
import type { CreatedQueue, MappedFunction, MappedService, QueueMapping } from './declarations.ts';
import { ConcurrencyLimits } from './concurrency.ts';
import type { FaultOptions } from './faults.ts';
import {
  newInvocationCounts,
  type InvocationCounts,
  type InvocationEnvironment,
  type LambdaHandler,
  type LocalFunction,
} from './invocation.ts';
import type { MappedQueue } from './mapped-queue.ts';
import { EventSourceMapping } from './mapping.ts';
import { Schedule } from './schedule.ts';

/** Something that went wrong around a function. Without a queue it was a schedule. */
export interface EngineFailure {
  readonly functionName: string;
  readonly queueName?: string;
  readonly message: string;
  readonly error?: unknown;
}

/** What the mappings of a service need. */
export interface MappingSetOptions {
  readonly service: MappedService;
  readonly queues: ReadonlyMap<string, CreatedQueue>;
  /** A queue as it is polled with the rights of a function. */
  readonly polledBy: (functionName: string, queue: CreatedQueue) => MappedQueue;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly faults: FaultOptions | undefined;
  readonly random: Random;
  readonly onFailure: (failure: EngineFailure) => void;
}

interface DeclaredMapping {
  readonly functionName: string;
  /** A mapping that has stopped cannot start again: it is made anew. */
  readonly make: () => EventSourceMapping;
  /** Undefined while it is disabled. */
  running: EventSourceMapping | undefined;
}

/** The mappings and schedules of one service. */
export class MappingSet {
  readonly counts: InvocationCounts = newInvocationCounts();
  readonly #options: MappingSetOptions;
  /** The account's places; a test may take them away. */
  readonly limits = new ConcurrencyLimits();
  readonly #mappings: DeclaredMapping[] = [];
  readonly #schedules = new Map<string, Schedule[]>();

  constructor(options: MappingSetOptions) {
    this.#options = options;
  }

  /** Starts everything that is declared. */
  start(handlers: Readonly<Record<string, LambdaHandler>>): void {
    if (this.#mappings.length > 0 || this.#schedules.size > 0) {
      throw new Error('the mappings were started before');
    }
    const missing = this.#options.service.functions.filter(({ name }) => !(name in handlers));
    if (missing.length > 0) {
      const names = missing.map(({ name }) => name).join(', ');
      throw new Error(`serverless.yml declares functions without a handler here: ${names}`);
    }
    for (const declared of this.#options.service.functions) {
      const handler = handlers[declared.name];
      if (handler !== undefined) this.#startFunction(declared, handler);
    }
  }

  /** Fires the schedules of a function now. */
  async fireSchedule(functionName: string): Promise<void> {
    const schedules = this.#schedules.get(functionName) ?? [];
    if (schedules.length === 0) throw new Error(`${functionName} has no schedule`);
    await Promise.all(schedules.map((schedule) => schedule.fire()));
  }

  /** Stops to receive for a function, as a disabled mapping does: what waits in its queues stays there. */
  async disable(functionName: string): Promise<void> {
    await Promise.all(
      this.#mappingsOf(functionName).map(async (mapping) => {
        const { running } = mapping;
        mapping.running = undefined;
        await running?.stop();
      }),
    );
  }

  /** Receives again for a function. */
  enable(functionName: string): void {
    for (const mapping of this.#mappingsOf(functionName)) {
      if (mapping.running !== undefined) continue;
      mapping.running = mapping.make();
      mapping.running.start();
    }
  }

  #mappingsOf(functionName: string): readonly DeclaredMapping[] {
    const found = this.#mappings.filter((mapping) => mapping.functionName === functionName);
    if (found.length === 0) throw new Error(`${functionName} has no mapping`);
    return found;
  }

  /** Stops everything; waits at most `waitMs` for what is in work. */
  async stop(waitMs: number): Promise<void> {
    const stopping = Promise.all([
      ...this.#mappings.map(({ running }) => running?.stop()),
      ...[...this.#schedules.values()].flat().map((schedule) => schedule.stop()),
    ]);
    const ended = new AbortController();
    await Promise.race([stopping, this.#options.clock.sleep(waitMs, ended.signal)]);
    ended.abort();
  }

  #startFunction(declared: MappedFunction, handler: LambdaHandler): void {
    const { name, timeoutMs, memoryMegabytes } = declared;
    const target: LocalFunction = { name, timeoutMs, memoryMegabytes, handler };
    for (const mapping of declared.queueMappings) this.#startMapping(target, mapping);
    const schedules = declared.schedulePeriodsMs.map((periodMs) => {
      const environment = this.#environment();
      const { onFailure } = this.#options;
      return new Schedule({ target, periodMs, environment, onFailure });
    });
    for (const schedule of schedules) schedule.start();
    if (schedules.length > 0) this.#schedules.set(name, schedules);
  }

  #startMapping(target: LocalFunction, mapping: QueueMapping): void {
    const { polledBy, queues, faults, random, onFailure, service } = this.#options;
    const queue = queues.get(mapping.queueId);
    if (queue === undefined) throw new Error(`${target.name} is mapped to no queue`);
    const isDisturbed = faults?.functions?.includes(target.name) ?? true;
    const make = (): EventSourceMapping =>
      new EventSourceMapping({
        queue: polledBy(target.name, queue),
        queueName: queue.name,
        source: { queueArn: queue.arn, region: service.region },
        mapping,
        target,
        environment: this.#environment(),
        limits: this.limits,
        faults: isDisturbed ? faults : undefined,
        random,
        onFailure,
      });
    const running = make();
    this.#mappings.push({ functionName: target.name, make, running });
    running.start();
  }

  #environment(): InvocationEnvironment {
    const { clock, newId, service } = this.#options;
    return {
      clock,
      newId,
      region: service.region,
      account: localAccountId,
      functionNamePrefix: `${service.service}-${service.stage}-`,
      counts: this.counts,
    };
  }
}
