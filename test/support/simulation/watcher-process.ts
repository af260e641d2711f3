/**
 * One watcher process of a simulated world: the real watcher on a clock of its own.
 *
 * All that it hears comes through that clock, so freezing the clock freezes the process.
 */
import type { ClusterId } from '../../../src/core/model/identifiers.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { WatcherOptions } from '../../../src/watcher/session/options.ts';
import { createWatcher, type Watcher } from '../../../src/watcher/session/watcher.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { Metrics } from '../../../src/ports/process.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { ProcessClock } from './process-clock.ts';
import type { SimulatedQueues } from './queues.ts';
import { SimulatedWatchSource, noWatchFaults, type WatchFaults } from './watch-source.ts';

/** A watcher process in the world. */
export interface WatcherProcess {
  readonly watcher: Watcher;
  readonly clock: ProcessClock;
  readonly source: SimulatedWatchSource;
  readonly faults: WatchFaults;
  readonly log: MemoryLog;
}

export interface WatcherSurroundings {
  readonly cluster: ClusterId;
  readonly senderId: string;
  readonly api: SimulatedApiServer;
  readonly queues: SimulatedQueues;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly skewMs: number;
  readonly options?: Partial<WatcherOptions>;
}

/** Starts a watcher process. */
export function startWatcherProcess(surroundings: WatcherSurroundings): WatcherProcess {
  const { cluster, senderId, api, queues, random, metrics, skewMs, options = {} } = surroundings;
  const clock = new ProcessClock(surroundings.clock, skewMs);
  const faults = noWatchFaults();
  const source = new SimulatedWatchSource(api, clock, faults);
  const log = new MemoryLog();
  const queue = queues.eventQueue(senderId, clock);
  const ports = { source, queue, clock, random, log, metrics };
  const watcher = createWatcher({ cluster, ...ports, options });
  void watcher.start();
  return { watcher, clock, source, faults, log };
}
