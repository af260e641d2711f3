/** Local clusters in rings: the canary's is large enough for evidence, and labels say which is which. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NO_EVIDENCE,
  NODES_HALT_AT,
  meanRatio,
  withDraw,
} from '../../../../src/core/health/trial.ts';
import { ringLabels, ringMachines } from '../../../../src/engine/local/local-rings.ts';

const ZONE = 'topology.kubernetes.io/zone';

describe('local clusters in rings', () => {
  it('have one canary, and regions', () => {
    const labels = [0, 1, 2, 3].map(ringLabels);
    assert.deepEqual(
      labels.map(({ ring }) => ring),
      ['canary', 'prod', 'prod', 'prod'],
    );
    assert.equal(new Set(labels.map(({ region }) => region)).size, 3);
  });

  it('have as many nodes as were asked for, the canary’s not too few', () => {
    assert.equal(ringMachines(1, 6).length, 6);
    assert.equal(ringMachines(0, 6).length, 24);
    assert.equal(ringMachines(0, 40).length, 40);
  });

  it('lose two canary nodes to an old kernel, in two zones, and that is evidence enough to halt', () => {
    const machines = ringMachines(0, 1);
    const old = machines.filter(({ kernel }) => kernel?.startsWith('5.10.'));
    const zones = [...Map.groupBy(old, ({ labels }) => labels[ZONE]).values()];
    assert.equal(zones.length, 2);
    const evidence = zones.reduce(
      (ratios, { length }) =>
        withDraw(ratios, { isUpdated: true, updatedAtRisk: 1, othersAtRisk: length - 1 }),
      NO_EVIDENCE,
    );
    assert.ok(meanRatio(evidence) >= NODES_HALT_AT, String(meanRatio(evidence)));
  });
});
