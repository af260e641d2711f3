/**
 * Metrics that Prometheus collects: kept in memory, written as text when asked (exposition format 0.0.4).
 *
 *   count('WatcherSends', {outcome: 'accepted'})  →  rollcall_watcher_sends_total{outcome="accepted"} 1
 *   record('WatcherMessageBytes', 812, 'Bytes')   →  rollcall_watcher_message_bytes_sum 812, …_count 1
 *
 * Outcomes come from closed lists: memory stays small. A library would cost more than these lines.
 */
import { METRICS } from '../../ports/metrics.ts';
import type { MetricName } from '../../ports/metrics.ts';
import type { MetricUnit, Metrics, Reading } from '../../ports/process.ts';

/** Metrics that can be asked for. */
export interface PrometheusMetrics extends Metrics {
  /** Everything counted so far and the given readings, as text. */
  render(readings?: readonly Reading[]): string;
}

/** Content type of the text. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'summary';
  readonly samples: Sample[];
}

interface Sum {
  readonly unit: MetricUnit;
  sum: number;
  count: number;
}

/** Metrics in memory, empty. */
export function createPrometheusMetrics(): PrometheusMetrics {
  const counters = new Map<MetricName, Map<string | undefined, number>>();
  const sums = new Map<MetricName, Sum>();
  return {
    count: (name, { by = 1, outcome } = {}) => {
      const byOutcome = counters.get(name) ?? new Map<string | undefined, number>();
      counters.set(name, byOutcome);
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + by);
    },
    record: (name, value, unit) => {
      const known = sums.get(name) ?? { unit, sum: 0, count: 0 };
      sums.set(name, known);
      known.sum += value;
      known.count += 1;
    },
    render: (readings = []) => {
      const families = [
        ...[...counters].map(([name, byOutcome]) => counterFamily(name, byOutcome)),
        ...[...sums].map(([name, sum]) => summaryFamily(name, sum)),
        ...readingFamilies(readings),
      ];
      return families.map(familyText).join('');
    },
  };
}

function counterFamily(
  metric: MetricName,
  byOutcome: ReadonlyMap<string | undefined, number>,
): Family {
  const name = `${prometheusName(metric)}_total`;
  const samples = [...byOutcome].map(([outcome, value]) => ({
    name,
    labels: outcome === undefined ? {} : { outcome },
    value,
  }));
  return { name, help: `${METRICS[metric].about}.`, type: 'counter', samples };
}

function summaryFamily(metric: MetricName, { unit, sum, count }: Sum): Family {
  const isMilliseconds = unit === 'Milliseconds';
  const name = `${prometheusName(metric)}${isMilliseconds ? '_seconds' : ''}`;
  const samples = [
    { name: `${name}_sum`, labels: {}, value: isMilliseconds ? sum / 1000 : sum },
    { name: `${name}_count`, labels: {}, value: count },
  ];
  return { name, help: `${METRICS[metric].about}.`, type: 'summary', samples };
}

/** Readings of one name stand together, as the format demands. */
function readingFamilies(readings: readonly Reading[]): readonly Family[] {
  const families = new Map<string, Family>();
  for (const { name, help, type, value, labels = {} } of readings) {
    const family = families.get(name) ?? { name, help, type, samples: [] };
    families.set(name, family);
    family.samples.push({ name, labels, value });
  }
  return [...families.values()];
}

function familyText({ name, help, type, samples }: Family): string {
  const lines = samples.map(
    (sample) => `${sample.name}${labelText(sample.labels)} ${numberText(sample.value)}\n`,
  );
  return `# HELP ${name} ${helpText(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${valueText(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function valueText(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function helpText(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** `WatcherStreamEnds` → `rollcall_watcher_stream_ends`. */
function prometheusName(metric: string): string {
  const words = metric.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return `rollcall_${words.replaceAll(/[^a-z0-9_]/g, '_')}`;
}

/** Memory, processor time and start of this process, under the names of Prometheus' own clients: dashboards know them. */
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
