/**
 * A FleetDaemonSet over local clusters, through the deployed handlers: a bad release is halted in its first ring, with the
 * cause, and goes back. A good one, and what needs minutes of evidence, are in fleet.nightly.test.ts.
 */
import { describe, it } from 'node:test';
import { assertHaltedInFirstRing, assertWentBack, playFleet } from './fleet-plays.ts';

describe('npm start -- --fleet', () => {
  it('halts an image that cannot be pulled in the first ring, and goes back', async () => {
    const played = await playFleet('--inject', 'bad-image', '--on-halt', 'rollback');
    assertHaltedInFirstRing(played, /Halted\/StartFailure/);
    assertWentBack(played);
  });
});
