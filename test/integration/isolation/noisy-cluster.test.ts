/**
 * The small form of `npm run bench -- isolation`: one healthy cluster beside one that hangs, on the local engine with
 * the deployed handlers, the queue and table servers, and TLS in between.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../../conformance/control-plane/poll.ts';
import { IsolationStage } from '../../support/isolation/isolation-stage.ts';

const NOISY_KEYS = 20;
const FACTOR = 3;
/** One time-out of a read, and what a busy machine adds to a test. */
const GRACE_MS = 15_000;

const worst = (latencies: readonly number[]): number => Math.max(...latencies);

describe('a cluster beside one whose API server hangs (L3, row 61)', () => {
  let stage: IsolationStage;

  before(async () => {
    stage = await IsolationStage.open({
      healthy: 1,
      healthyKeys: 2,
      noisyKeys: NOISY_KEYS,
      deadlineMs: 300_000,
    });
  });
  after(() => stage.close());

  it('keeps its latency within the stated factor, and the hung one is hardly asked', async () => {
    const alone = await stage.measure('none', 2);
    const beside = await stage.measure('hang', 3);
    const text = `${beside.join()} ms beside ${alone.join()} ms`;
    assert.ok(worst(beside) <= FACTOR * worst(alone) + GRACE_MS, text);
    const asked = stage.relay.failed();
    assert.ok(asked <= 4 * NOISY_KEYS, `${String(asked)} requests to it`);
  });

  it('sees the breaker of the hung one in its META, written by the deployed role', async () => {
    const [, uid] = [...stage.engine.clusterUids.entries()].find(([id]) => id === 'noisy') ?? [];
    assert.ok(uid !== undefined);
    // How soon depends on when three of its runs have failed, so on the machine.
    await stage.during('hang', () =>
      pollUntil({ deadlineMs: 300_000, description: 'an opening of its breaker' }, async () => {
        const meta = await stage.engine.view.readMeta(uid);
        return (meta?.breaker?.openings ?? 0) > 0 ? true : undefined;
      }),
    );
  });
});
