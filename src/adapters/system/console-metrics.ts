/**
 * Metrics as log lines: each count and each value is one line at level debug, for development.
 */
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

/** Metrics that are written to a log. */
export function createConsoleMetrics(log: Log): Metrics {
  return {
    count: (name, options = {}) => {
      log.debug('metric', { metric: name, value: options.by ?? 1, outcome: options.outcome });
    },
    record: (name, value, unit) => {
      log.debug('metric', { metric: name, value, unit });
    },
  };
}
