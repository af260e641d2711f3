/** What one run makes of its requests: every time-out there is counts as one, and nothing shorter does (L3, row 61). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OBJECT_READ_TIMEOUT_MS } from '../../../../src/adapters/kubernetes/api/cluster-access.ts';
import { CONNECT_TIMEOUT_MS } from '../../../../src/adapters/kubernetes/transport/transport.ts';
import { TalkTally, talliedAccess, type Talk } from '../../../../src/app/isolation/talk-tally.ts';
import type { FleetManifest } from '../../../../src/core/fleet/fleet-daemon-set.ts';
import type { ClusterAccess } from '../../../../src/ports/cluster/cluster-access.ts';
import type { ManifestOutcome } from '../../../../src/ports/cluster/manifest-access.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

function tallyOn(clock: VirtualClock) {
  const tally = new TalkTally(clock);
  return {
    tally,
    /** A call of this length, and what it showed. */
    call: async (tookMs: number, talk: Talk): Promise<void> => {
      const measured = tally.measure(
        () => clock.sleep(tookMs),
        () => talk,
      );
      await clock.advance(tookMs);
      await measured;
    },
  };
}

describe('the talk of a run', () => {
  it('is given up after one time-out, whether of connecting or of reading', async () => {
    for (const tookMs of [CONNECT_TIMEOUT_MS, OBJECT_READ_TIMEOUT_MS]) {
      const { tally, call } = tallyOn(new VirtualClock());
      await call(tookMs, 'failed');
      assert.equal(tally.hasGivenUp, true, `${tookMs} ms`);
      assert.equal(tally.kind, 'failed');
    }
  });

  it('is given up after three quick failures in a row, and not before', async () => {
    const { tally, call } = tallyOn(new VirtualClock());
    await call(10, 'failed');
    await call(10, 'failed');
    assert.equal(tally.hasGivenUp, false);
    await call(10, 'answered');
    await call(10, 'failed');
    await call(10, 'failed');
    assert.equal(tally.hasGivenUp, false, 'an answer between');
    await call(10, 'failed');
    assert.equal(tally.hasGivenUp, true);
    assert.equal(tally.kind, 'answered', 'a server that answered is alive (row 12)');
  });

  it('is slow when its answers took five seconds together, whatever they said', async () => {
    const { tally, call } = tallyOn(new VirtualClock());
    await call(2_500, 'answered');
    assert.equal(tally.isSlow, false);
    await call(2_500, 'answered');
    assert.equal(tally.isSlow, true);
    assert.equal(tally.kind, 'answered');
  });

  it('counts once what went side by side: fifty quick reads at once are not slow', async () => {
    const clock = new VirtualClock();
    const tally = new TalkTally(clock);
    const read = (): Promise<void> =>
      tally.measure(
        () => clock.sleep(200),
        () => 'answered',
      );
    const reads = Promise.all(Array.from({ length: 50 }, read));
    await clock.advance(200);
    await reads;
    assert.equal(tally.isSlow, false);
    const later = Promise.all([
      read(),
      tally.measure(
        () => clock.sleep(4_800),
        () => 'answered',
      ),
    ]);
    await clock.advance(4_800);
    await later;
    assert.equal(tally.isSlow, true);
  });

  it('is no failure where the server only asked to wait', async () => {
    const { tally, call } = tallyOn(new VirtualClock());
    for (let count = 0; count < 5; count += 1) await call(OBJECT_READ_TIMEOUT_MS, 'neutral');
    assert.equal(tally.hasGivenUp, false);
    assert.equal(tally.kind, 'silent');
  });

  it('judges an apply: a refusal is an answer, silence a failure, a wish to wait or a late start neither', async () => {
    const cases: readonly (readonly [ManifestOutcome, number, string])[] = [
      [{ kind: 'refused', status: 403, message: '' }, 100, 'answered'],
      [{ kind: 'changed' }, 100, 'answered'],
      [{ kind: 'unavailable', message: '', isAnswered: true }, 100, 'answered'],
      [{ kind: 'unavailable', message: '' }, 100, 'failed'],
      [{ kind: 'unavailable', message: '', retryAfterMs: 5 }, 100, 'silent'],
      [{ kind: 'unavailable', message: '' }, 0, 'silent'],
    ];
    for (const [outcome, deadlineMs, kind] of cases) {
      const clock = new VirtualClock();
      const tally = new TalkTally(clock);
      const applyDaemonSet = (): Promise<ManifestOutcome> => Promise.resolve(outcome);
      // Only what is called is there.
      const access = talliedAccess({ applyDaemonSet } as unknown as ClusterAccess, {
        tally,
        clock,
      });
      const options = {
        isDryRun: false,
        isForced: false,
        deadlineMs: clock.monotonicMs() + deadlineMs,
      };
      assert.equal(await access.applyDaemonSet({} as FleetManifest, options), outcome);
      assert.equal(tally.kind, kind, JSON.stringify(outcome));
    }
  });

  it('applies nothing once it gave up', async () => {
    const { tally, call } = tallyOn(new VirtualClock());
    await call(CONNECT_TIMEOUT_MS, 'failed');
    const access = talliedAccess({} as ClusterAccess, { tally, clock: new VirtualClock() });
    const options = { isDryRun: false, isForced: false, deadlineMs: Infinity };
    assert.equal((await access.applyDaemonSet({} as FleetManifest, options)).kind, 'unavailable');
  });
});
