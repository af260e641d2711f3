/**
 * What every function and the watcher run on, beside stores, queues and clusters: time, chance, and whom they tell.
 *
 * Dimensions of metrics are few and bounded: never a cluster, a DaemonSet or a node (a CloudWatch metric per cluster costs
 * more than the cluster, spec aws-facts 9).
 * Differs from upstream: names of our own (docs/reference/metrics.md); queues measure themselves (spec 2.14).
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { MetricName } from './metrics.ts';

/** Of one process; who needs less of it says so with `Pick` or `Omit`. */
export interface ProcessPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Unit of a metric. */
export type MetricUnit = 'Count' | 'Milliseconds' | 'Bytes';

/** A sink of metrics. */
export interface Metrics {
  /** Adds to a counter. `outcome` is the one dimension beside the service; from a closed list. */
  count(name: MetricName, options?: { readonly by?: number; readonly outcome?: string }): void;
  record(name: MetricName, value: number, unit: MetricUnit): void;
}

/** A gauge, read at scrape time (Prometheus). */
export interface Reading {
  /** Prometheus name, unit last: `rollcall_watcher_stream_age_seconds`. */
  readonly name: string;
  readonly help: string;
  /** `counter`: only grows while the process lives. */
  readonly type: 'gauge' | 'counter';
  readonly value: number;
  /** Few and bounded, as with {@link Metrics}. */
  readonly labels?: Readonly<Record<string, string>>;
}
