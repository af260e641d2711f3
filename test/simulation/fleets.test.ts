// Fleets by seed: several clusters of a dozen nodes and several DaemonSets, beside one that makes noise (L3, row 61).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playFleet } from '../support/isolation/fleet-play.ts';

// Between them: garbage, a cluster that hangs, a flood, refusals. Others: fleets.nightly.test.ts.
const SEEDS = [2, 4];

const heard = new Set<string>();

for (const seed of SEEDS) {
  test(`L1, L3, S1, S3, S5, S9: fleet ${seed} keeps every promise beside a noisy cluster (row 61)`, async () => {
    const { broken, noises, judged } = await playFleet(seed);
    assert.deepEqual(broken, []);
    assert.equal(judged, 12);
    for (const noise of noises) heard.add(noise);
  });
}

test('M1: the fleets of these seeds meet every noise that L3 names, and refusals', () => {
  assert.deepEqual([...heard].sort(), ['flood', 'garbage', 'hang', 'refusals']);
});
