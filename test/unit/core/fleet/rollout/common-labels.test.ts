// What failed clusters have in common: claimed where chance does not explain it, and never of a few.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCommonLabels } from '../../../../../src/core/fleet/rollout/common-labels.ts';
import type { GivenCluster } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { failedOf, givenOf, WELL } from '../../../../support/fleet-records.ts';

function stage(count: number, isBad: (index: number) => boolean): readonly GivenCluster[] {
  return Array.from({ length: count }, (_, index) => {
    const labels = { provider: index % 4 === 0 ? 'metal' : 'cloud', name: `n${String(index)}` };
    const id = `c${String(index)}`;
    return isBad(index) ? failedOf(id, NOW_MS, labels) : givenOf(id, WELL, { labels });
  });
}

const claimOf = (given: readonly GivenCluster[]): string | undefined =>
  describeCommonLabels(given, ({ record }) => record.phase === 'failed');

describe('describeCommonLabels', () => {
  it('names the label that splits failed from well, with the numbers of both sides', () => {
    assert.equal(
      claimOf(stage(40, (index) => index % 4 === 0)),
      'most likely cause: provider=metal (10 of 10 failed there, 0 of 30 elsewhere)',
    );
  });

  it('claims nothing of ten clusters or less', () => {
    assert.equal(claimOf(stage(10, (index) => index % 4 === 0)), undefined);
  });

  it('claims nothing where failures fall anywhere', () => {
    assert.equal(claimOf(stage(40, (index) => index % 5 === 0)), undefined);
  });

  it('claims nothing where all failed', () => {
    assert.equal(claimOf(stage(40, () => true)), undefined);
  });
});
