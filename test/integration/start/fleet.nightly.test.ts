/** A good release of a fleet, and each failure, with both answers to a breach; some only minutes of evidence show: nodes that die, a slow API server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertHaltedInFirstRing, assertWentBack, playFleet } from './fleet-plays.ts';

/** What is injected, and what halts it. */
const CAUSES = [
  ['kernel', /Halted\/NodesFailed: 2 of 3 updated nodes went bad/],
  ['slow-api', /Halted\/ApiServerSlow/],
  ['bad-image', /Halted\/StartFailure/],
  ['crash-loop', /Halted\/Restarts/],
] as const;

// One after the other: what is slow because of its neighbours is evidence of nothing.
describe('npm start -- --fleet', () => {
  it('rolls a good release out: the canary ring, the next stage, and everybody has it', async () => {
    const { report, fleet } = await playFleet();
    assert.equal(report.result, 'settled');
    assert.equal(fleet.ending, 'completed');
    assert.deepEqual(
      report.clusters.map(({ daemonSets }) => daemonSets.map(({ upToDate }) => upToDate)),
      [[24], [6], [6]],
    );
  });
});

describe('npm start -- --fleet --inject', () => {
  for (const [failure, cause] of CAUSES) {
    it(`${failure} halts in the first ring, and stands`, async () => {
      const played = await playFleet('--inject', failure);
      assertHaltedInFirstRing(played, cause);
      assert.equal(played.fleet.ending, 'halted');
    });

    it(`${failure} halts in the first ring, and goes back if told to`, async () => {
      const played = await playFleet('--inject', failure, '--on-halt', 'rollback');
      assertHaltedInFirstRing(played, cause);
      assertWentBack(played);
    });
  }
});
