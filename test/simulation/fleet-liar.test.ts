// The hunt *lying watcher*: the watcher of one of twelve clusters lies, and nothing of the other eleven is touched (issue 40).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playLiar } from '../support/fleet-simulation/play-liar.ts';

// Each of them halts its fleet. Others: fleet-liar.nightly.test.ts.
const SEEDS = [2, 5];

let halts = 0;
for (const seed of SEEDS) {
  test(`liar seed ${String(seed)} takes nothing back from any other cluster`, async () => {
    const { broken, liar, lies, halts: causes } = await playLiar(seed);
    const again = `replay: npm test -- test/simulation/fleet-liar.test.ts --test-name-pattern="liar seed ${String(seed)} "`;
    assert.deepEqual(broken, [], `${liar}: ${lies.join()}; halts: ${causes.join(' | ')}; ${again}`);
    halts += causes.length;
  });
}

test('the liars above halt fleets: nothing would be proven by lies that nobody hears', () => {
  assert.ok(halts >= 2, `${String(halts)} halts`);
});
