/** Whether a controller has seen a DaemonSet as it stands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isObserved } from '../../../../src/core/daemon-set/generation.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';

describe('a generation', () => {
  it('is observed once a controller has seen it', () => {
    const of = (generation: number, observedGeneration?: number): boolean =>
      isObserved(
        daemonSet({
          metadata: { generation },
          ...(observedGeneration === undefined ? {} : { status: { observedGeneration } }),
        }),
      );
    assert.equal(of(2, 2), true);
    assert.equal(of(2, 1), false);
    assert.equal(of(1), false);
    assert.equal(of(2, 3), true, 'a view may show the status of a later one');
  });
});
