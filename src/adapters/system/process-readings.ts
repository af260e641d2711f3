/**
 * Figures of this process, under the names that Prometheus' own clients use, so that known dashboards work.
 */
import type { Reading } from '../../ports/metrics.ts';

/** Memory, processor time and start of this process. */
export function processReadings(): readonly Reading[] {
  const memory = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const gauge = (name: string, help: string, value: number): Reading => ({
    name,
    help,
    type: 'gauge',
    value,
  });
  return [
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('nodejs_heap_size_used_bytes', 'Used heap in bytes.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'Memory outside of the heap in bytes.', memory.external),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since 1970 in seconds.',
      Math.round(Date.now() / 1000 - process.uptime()),
    ),
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time spent in seconds.',
      type: 'counter',
      value: (user + system) / 1e6,
    },
  ];
}
