// Counting clusters: each in one place, and a failure counts whatever the others do.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tallyStage } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { failedOf, givenOf, ROLLING, seenOf, WELL } from '../../../../support/fleet-records.ts';

describe('tallyStage', () => {
  it('puts each cluster in one count', () => {
    const given = [
      givenOf('a', WELL),
      givenOf('b', { kind: 'empty' }),
      givenOf('c', ROLLING),
      givenOf('d', { kind: 'awaited' }),
      givenOf('e', { kind: 'reverted', fields: [] }),
      givenOf('f', { kind: 'offline' }),
      givenOf('g', { kind: 'untouched' }),
      givenOf('h', { kind: 'gone' }),
      givenOf('i', { kind: 'rebuilt' }),
      failedOf('j'),
    ];
    const seen = { waitingClusters: 5, offlineClusters: 2, untouchedClusters: 1 };
    const { counts } = tallyStage(seenOf(given, seen), 0);
    assert.deepEqual(counts, {
      waiting: 6,
      rolling: 3,
      well: 2,
      failed: 1,
      offline: 3,
      untouched: 3,
    });
  });

  it('counts one as failed that is silent, or looks well again', () => {
    const well = { ...failedOf('a'), verdict: WELL };
    const silent = { ...failedOf('b'), verdict: { kind: 'offline' } as const };
    const tally = tallyStage(seenOf([well, silent]), 0);
    assert.deepEqual([tally.counts.failed, tally.failed.length, tally.provenClusters], [2, 2, 0]);
  });

  it('leaves failures aside that an operator overruled, and no later ones', () => {
    const tally = tallyStage(
      seenOf([failedOf('a', NOW_MS - 1), failedOf('b', NOW_MS + 1)]),
      NOW_MS,
    );
    assert.deepEqual(
      tally.failed.map(({ record }) => record.cluster),
      ['b'],
    );
    assert.equal(tally.counts.failed, 2);
  });

  it('takes one that was well and cannot be read as it was, and as no evidence', () => {
    const unclear = { kind: 'unclear' } as const;
    const given = [givenOf('a', unclear, { phase: 'well' }), givenOf('b', unclear)];
    const { counts, unclearClusters, provenClusters } = tallyStage(seenOf(given), 0);
    assert.deepEqual([counts.well, counts.rolling, unclearClusters, provenClusters], [1, 1, 1, 0]);
  });
});
