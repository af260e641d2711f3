// More days of fleets by seed than `npm test` has time for, and larger ones (issue 18).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRollouts } from '../support/fleet-simulation/play-rollouts.ts';

const SMALL_SEEDS = Array.from({ length: 300 }, (_, index) => index + 1001);
const LARGE_SEEDS = Array.from({ length: 12 }, (_, index) => index + 2001);

for (const seed of SMALL_SEEDS) {
  test(`fleet seed ${String(seed)} keeps every promise through a day of releases under faults`, async () => {
    const { broken } = await playRollouts(seed, { clusters: 40, hasFaults: true, turnMs: 60_000 });
    assert.deepEqual(broken, []);
  });
}

for (const seed of LARGE_SEEDS) {
  test(`fleet seed ${String(seed)} keeps every promise with five hundred clusters`, async () => {
    const { broken } = await playRollouts(seed, { clusters: 500, hasFaults: true, turnMs: 60_000 });
    assert.deepEqual(broken, []);
  });
}

test('fleet seed 500 writes a few times for each of five hundred clusters of one to five thousand nodes', async () => {
  const size = { clusters: 500, hasFaults: true, turnMs: 180_000 };
  const { broken, writesPerCluster } = await playRollouts(500, size);
  assert.deepEqual(broken, []);
  assert.ok(writesPerCluster < 25, `${String(writesPerCluster)} writes a cluster`);
});
