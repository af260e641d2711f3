/**
 * What every function and the watcher run on, beside stores, queues and clusters: time, chance, and whom they tell.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { Metrics } from './metrics.ts';

/** Of one process; who needs less of it says so with `Pick` or `Omit`. */
export interface ProcessPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}
