/**
 * A FleetDaemonSet over local clusters, through the deployed handlers (issue 18): a good release goes through its stages, a bad one is halted
 * in its first ring, with the cause, and goes back where that was asked for.
 *
 * Side by side: each waits for its soaks most of the time. What needs minutes of evidence is in fleet.nightly.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertHaltedInFirstRing, assertWentBack, playFleet } from './fleet-plays.ts';

describe('npm start -- --fleet', { concurrency: true }, () => {
  it('rolls a good release out: the canary ring, the next stage, and everybody has it', async () => {
    const { report, fleet } = await playFleet();
    assert.equal(report.result, 'settled');
    assert.equal(fleet.ending, 'completed');
    assert.deepEqual(
      report.clusters.map(({ daemonSets }) => daemonSets.map(({ upToDate }) => upToDate)),
      [[24], [6], [6]],
    );
  });

  it('halts an image that cannot be pulled in the first ring, and goes back', async () => {
    const played = await playFleet('--inject', 'bad-image', '--on-halt', 'rollback');
    assertHaltedInFirstRing(played, /Halted\/StartFailure/);
    assertWentBack(played);
  });
});
