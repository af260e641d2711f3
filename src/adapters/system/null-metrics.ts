/**
 * Metrics that go nowhere: for commands that run once and for the watcher without a sink.
 */
import type { Metrics } from '../../ports/metrics.ts';

/** Metrics that are not kept. */
export function createNullMetrics(): Metrics {
  return { count: () => undefined, record: () => undefined };
}
