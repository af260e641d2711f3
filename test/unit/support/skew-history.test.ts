/** How long something may have lasted by a clock that was set meanwhile. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { SkewHistory } from '../../support/simulation/skew-history.ts';

async function history() {
  const clock = new VirtualClock();
  let skewMs = 0;
  const seen = new SkewHistory(clock, () => skewMs);
  seen.note();
  const set = async (toMs: number): Promise<void> => {
    seen.note();
    skewMs = toMs;
    await clock.advance(1000);
    seen.note();
  };
  await clock.advance(10_000);
  return { clock, seen, set };
}

it('is what passed, by a clock that nobody set', async () => {
  const { seen } = await history();
  assert.equal(seen.elapsedMs(4000), 6000);
  assert.equal(seen.setBackMs(), 0);
});

it('is more by what it was set forward, and no less by what it was set back before it was seen', async () => {
  const { seen, set } = await history();
  await set(60_000);
  assert.equal(seen.elapsedMs(4000), 67_000);
  assert.equal(seen.elapsedMs(10_500), 500);
  const other = await history();
  await other.set(-60_000);
  await other.clock.advance(5000);
  assert.equal(other.seen.elapsedMs(4000), 6000);
  assert.equal(other.seen.setBackMs(), 60_000);
});
