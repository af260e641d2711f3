/**
 * The bound of a deployment is ten minutes on a quiet machine, and can be missed on any: it ends before the suite does.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployBoundMs, SUITE_TIMEOUT_MS } from '../../deploy/deploy-time.ts';
import { FACTOR_MAX } from '../../support/machine-pace.ts';

describe('deployBoundMs', () => {
  it('is ten minutes on a quiet machine', () => {
    assert.equal(deployBoundMs(1), 600_000);
  });

  it('stretches the work and not the deliveries that are waited for', () => {
    assert.equal(deployBoundMs(2), 900_000);
  });

  it('ends before the time-out of the suite on the slowest machine', () => {
    // Its last step is what judges.
    const marginMs = 60_000;
    assert.ok(deployBoundMs(FACTOR_MAX) + marginMs <= SUITE_TIMEOUT_MS);
  });
});
