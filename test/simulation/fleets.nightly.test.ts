// More fleets by seed than `npm test` has time for (L3, row 61).
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
