// Rollouts of fleets by seed: forty clusters through a day of four releases. Five hundred, and more days: fleet-rollouts.nightly.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRollouts } from '../support/fleet-simulation/play-rollouts.ts';
import type { Played, PlaySize } from '../support/fleet-simulation/play-rollouts.ts';

const SMALL = { clusters: 40, hasFaults: true, turnMs: 60_000 };
/** Nine and twelve meet more failures than a stage may have. */
const SEEDS = [1, 2, 3, 9, 12];

async function play(seed: number, size: PlaySize): Promise<Played> {
  const played = await playRollouts(seed, size);
  const again = `replay: npm test -- test/simulation/fleet-rollouts.test.ts --test-name-pattern="fleet seed ${String(seed)} "`;
  assert.deepEqual(played.broken, [], again);
  return played;
}

let halts = 0;
for (const seed of SEEDS) {
  test(`fleet seed ${String(seed)} keeps every promise through a day of releases under faults`, async () => {
    // Every other one is stepped every two minutes: a schedule that is late.
    const turnMs = SMALL.turnMs * (1 + (seed % 2));
    const played = await play(seed, { ...SMALL, turnMs });
    halts += played.halts;
    // The record each minute while something is awaited; of a cluster a few with each release.
    assert.ok(played.writesPerCluster < 90, `${String(played.writesPerCluster)} writes a cluster`);
    // A fleet that is done: which are due, and the registry's revision, with each turn.
    assert.ok(
      played.doneCallsPerHour <= 2 * (3_600_000 / turnMs) + 4,
      String(played.doneCallsPerHour),
    );
  });
}

test('the seeds above meet halts: nothing would be proven by rollouts that only succeed', () => {
  assert.ok(halts >= 10, `${String(halts)} halts`);
});
