// More fleets by seed than `npm test` has time for, and larger ones: thirty clusters in one world (L3, row 61; 14 A.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playFleet } from '../support/isolation/fleet-play.ts';

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

for (const seed of SEEDS) {
  test(`L1, L3, S1, S3, S5, S9: fleet ${seed} keeps every promise beside a noisy cluster (row 61)`, async () => {
    const { broken } = await playFleet(seed);
    assert.deepEqual(broken, []);
  });
}

/** With the noisy one thirty. */
const MANY = 29;
/** Garbage and a cluster that hangs; a flood and refusals. */
const LARGE_SEEDS = [2, 4];

for (const seed of LARGE_SEEDS) {
  test(`L1, L3, S1, S3, S5, S9: thirty clusters, fleet ${seed}: twenty-nine keep every promise beside a noisy one (row 61)`, async () => {
    const { broken, judged } = await playFleet(seed, MANY);
    assert.deepEqual(broken, []);
    assert.equal(judged, 6 * MANY);
  });
}
