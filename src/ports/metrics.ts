/**
 * Metrics as a port. Dimensions are few and bounded: never a cluster, a DaemonSet or a node
 * (a CloudWatch metric per cluster costs more than the cluster, spec aws-facts 9).
 *
 * Differs from upstream: names of our own (docs/reference.md); queues measure themselves (spec 2.14).
 */

/** Units of a metric. */
export type MetricUnit = 'Count' | 'Milliseconds' | 'Bytes';

/** A sink of metrics. */
export interface Metrics {
  /** Adds to a counter. `outcome` is the one dimension beside the service; from a closed list. */
  count(name: string, options?: { readonly by?: number; readonly outcome?: string }): void;
  /** Records one value of a distribution. */
  record(name: string, value: number, unit: MetricUnit): void;
}
