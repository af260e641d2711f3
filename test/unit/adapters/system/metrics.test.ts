/** Metrics: their dimensions and their bounds. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createPowertoolsMetrics } from '../../../../src/adapters/system/powertools-metrics.ts';

interface EmbeddedMetrics {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}

/** What `publish` writes, as parsed lines. */
function published(
  act: (metrics: ReturnType<typeof createPowertoolsMetrics>) => void,
): EmbeddedMetrics[] {
  const lines: string[] = [];
  // Powertools picks the global console only in development mode, and when it is made.
  process.env['POWERTOOLS_DEV'] = 'true';
  process.env['POWERTOOLS_METRICS_DISABLED'] = 'false';
  const log = mock.method(console, 'log', (line: string) => lines.push(line));
  try {
    act(createPowertoolsMetrics({ service: 'reconcile' }));
  } finally {
    log.mock.restore();
    delete process.env['POWERTOOLS_DEV'];
    delete process.env['POWERTOOLS_METRICS_DISABLED'];
  }
  return lines.map((line) => JSON.parse(line) as EmbeddedMetrics);
}

describe('Powertools metrics', () => {
  it('have service and outcome as their only dimensions (aws-facts 9)', () => {
    const lines = published((metrics) => {
      metrics.count('WatcherSends', { outcome: 'accepted' });
      metrics.count('WatcherSends', { outcome: 'accepted', by: 2 });
      metrics.count('WatcherSends', { outcome: 'unsent' });
      metrics.count('ReconcileRuns');
      metrics.record('IngestLag', 12, 'Milliseconds');
      metrics.publish();
    });
    const dimensions = lines.map((line) =>
      line._aws.CloudWatchMetrics[0]?.Dimensions.flat().sort(),
    );
    assert.deepEqual(dimensions.sort(), [
      ['outcome', 'service'],
      ['outcome', 'service'],
      ['service'],
    ]);
    assert.ok(lines.every((line) => line._aws.CloudWatchMetrics[0]?.Namespace === 'Rollcall'));
    const accepted = lines.find((line) => line['outcome'] === 'accepted');
    assert.equal(accepted?.['WatcherSends'], 3);
    const plain = lines.find((line) => line['outcome'] === undefined);
    assert.deepEqual([plain?.['ReconcileRuns'], plain?.['IngestLag']], [1, 12]);
  });

  it('write nothing when there is nothing, and nothing twice', () => {
    const lines = published((metrics) => {
      metrics.publish();
      metrics.count('ReconcileRuns');
      metrics.publish();
      metrics.publish();
    });
    assert.equal(lines.length, 1);
  });

  it('keep the number of outcomes bounded', () => {
    const lines = published((metrics) => {
      for (let index = 0; index < 200; index += 1) {
        metrics.count('WatcherSends', { outcome: `cluster-${index}` });
      }
      metrics.publish();
    });
    assert.ok(lines.length <= 51);
  });
});
