/**
 * Metrics over Powertools (CloudWatch embedded metric format), for deployed functions.
 *
 * The dimensions are `service` and, for counters that have one, `outcome`: both from closed lists,
 * never a cluster or a key (a metric per cluster costs more than the cluster, spec aws-facts 9).
 * One Powertools instance per outcome, so that one line per outcome and invocation is written.
 */
import { Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics';
import type { MetricUnit, Metrics } from '../../ports/process.ts';

/** Metrics that are written when they are published. */
export interface PublishedMetrics extends Metrics {
  /** Writes what was collected, and forgets it. */
  publish(): void;
}

/** A list that grows beyond this is not closed: what comes later goes without its outcome. */
const OUTCOMES_MAX = 50;

interface Sink {
  readonly powertools: PowertoolsMetrics;
  /** Sums by name: one value each, however often something was counted. */
  readonly counts: Map<string, number>;
}

/** Metrics over Powertools. */
export function createPowertoolsMetrics({
  namespace = 'Rollcall',
  service: serviceName,
}: {
  readonly namespace?: string;
  /** Value of the dimension `service`: the function's name. */
  readonly service: string;
}): PublishedMetrics {
  const sinks = new Map<string, Sink>();

  const sinkFor = (outcome: string): Sink => {
    const known = sinks.get(outcome);
    if (known !== undefined) return known;
    if (sinks.size >= OUTCOMES_MAX && outcome !== '') return sinkFor('');
    const powertools = new PowertoolsMetrics({
      namespace,
      serviceName,
      ...(outcome === '' ? {} : { defaultDimensions: { outcome } }),
    });
    const sink: Sink = { powertools, counts: new Map() };
    sinks.set(outcome, sink);
    return sink;
  };

  const publishSink = ({ powertools, counts }: Sink): void => {
    for (const [name, sum] of counts) powertools.addMetric(name, 'Count', sum);
    counts.clear();
    if (powertools.hasStoredMetrics()) powertools.publishStoredMetrics();
  };

  return {
    count: (name, { by = 1, outcome = '' } = {}) => {
      const { counts } = sinkFor(outcome);
      counts.set(name, (counts.get(name) ?? 0) + by);
    },
    record: (name: string, value: number, unit: MetricUnit) => {
      sinkFor('').powertools.addMetric(name, unit, value);
    },
    publish: () => {
      for (const sink of sinks.values()) publishSink(sink);
    },
  };
}
