/** The text that Prometheus reads: parsed here by the rules of exposition format 0.0.4. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createPrometheusMetrics,
  processReadings,
} from '../../../../src/adapters/system/prometheus-metrics.ts';
import { parseExposition, sampleOf } from '../../../support/exposition.ts';

describe('metrics for Prometheus', () => {
  test('counters add up by outcome, under the name that follows from the metric', () => {
    const metrics = createPrometheusMetrics();
    metrics.count('WatcherSends', { outcome: 'accepted' });
    metrics.count('WatcherSends', { outcome: 'accepted', by: 2 });
    metrics.count('WatcherSends', { outcome: 'unsent' });
    metrics.count('WatcherHeartbeats');
    const families = parseExposition(metrics.render());
    const name = 'rollcall_watcher_sends_total';
    assert.equal(families.get(name)?.type, 'counter');
    assert.equal(sampleOf(families, name, { outcome: 'accepted' }), 3);
    assert.equal(sampleOf(families, name, { outcome: 'unsent' }), 1);
    assert.equal(sampleOf(families, 'rollcall_watcher_heartbeats_total'), 1);
  });

  test('values are a sum and a count, times in seconds', () => {
    const metrics = createPrometheusMetrics();
    metrics.record('WatcherMessageBytes', 800, 'Bytes');
    metrics.record('WatcherMessageBytes', 12, 'Bytes');
    metrics.record('IngestLag', 1500, 'Milliseconds');
    const families = parseExposition(metrics.render());
    const bytes = families.get('rollcall_watcher_message_bytes');
    assert.equal(bytes?.type, 'summary');
    assert.deepEqual(
      bytes.samples.map(({ name, value }) => [name, value]),
      [
        ['rollcall_watcher_message_bytes_sum', 812],
        ['rollcall_watcher_message_bytes_count', 2],
      ],
    );
    const delay = families.get('rollcall_ingest_lag_seconds');
    assert.equal(delay?.samples[0]?.value, 1.5);
  });

  test('readings of one name stand together, whatever stood between them', () => {
    const gauge = (kind: string, value: number) =>
      ({ name: 'rollcall_x', help: 'x', type: 'gauge', value, labels: { kind } }) as const;
    const other = { name: 'rollcall_y', help: 'y', type: 'gauge', value: 3 } as const;
    const text = createPrometheusMetrics().render([gauge('a', 1), other, gauge('b', 2)]);
    const families = parseExposition(text);
    assert.equal(sampleOf(families, 'rollcall_x', { kind: 'b' }), 2);
    assert.equal(families.size, 2);
  });

  test('any label value and help survives being written and read', () => {
    const anyText = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(anyText, anyText, fc.double(), (label, help, value) => {
        const reading = {
          name: 'rollcall_x',
          help,
          type: 'gauge',
          value,
          labels: { label },
        } as const;
        const families = parseExposition(createPrometheusMetrics().render([reading]));
        assert.equal(families.get('rollcall_x')?.help, help);
        const read = sampleOf(families, 'rollcall_x', { label });
        assert.ok(Object.is(read, value === 0 ? 0 : value));
      }),
    );
  });

  test('the process tells its memory, and when it began', () => {
    const read = () => ({ nowMs: Date.now(), uptimeMs: process.uptime() * 1000 });
    const before = read();
    const families = parseExposition(createPrometheusMetrics().render(processReadings()));
    const after = read();
    assert.ok((sampleOf(families, 'process_resident_memory_bytes') ?? 0) > 1e6);
    const startedSeconds = sampleOf(families, 'process_start_time_seconds') ?? 0;
    // Whole seconds, from two clocks that the process reads one after the other.
    assert.ok(startedSeconds * 1000 >= before.nowMs - after.uptimeMs - 1000);
    assert.ok(startedSeconds * 1000 <= after.nowMs - before.uptimeMs + 1000);
  });
});
