/**
 * The small form of `npm run bench -- isolation`: one healthy cluster beside one that hangs, on the local engine with
 * the deployed handlers, the queue and table servers, and TLS in between.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../../conformance/control-plane/poll.ts';
import { findLag } from '../../support/isolation/latency-bound.ts';
import { IsolationStage } from '../../support/isolation/isolation-stage.ts';

const NOISY_KEYS = 20;
const ALONE_CHANGES = 3;
const BESIDE_CHANGES = 4;
/**
 * A watcher in which little happens flushes at once, one in which a change follows another waits so long: which of the two a
 * change meets is no matter of the neighbour, and on a quick machine the ratio would be of nothing but that.
 */
const PACED_FLUSH_MS = 250;

const paced = (latencies: readonly number[]): readonly number[] =>
  latencies.map((latencyMs) => Math.max(latencyMs, PACED_FLUSH_MS));

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

  it('keeps its latency within three times, and 5 s once; the hung one is hardly asked', async (context) => {
    // Alone before and after, so that what the machine does meanwhile is in both.
    const before = await stage.measure('none', ALONE_CHANGES);
    const beside = await stage.measure('hang', BESIDE_CHANGES);
    const after = await stage.measure('none', ALONE_CHANGES);
    const latencies = { alone: paced([...before, ...after]), beside };
    context.diagnostic(JSON.stringify(latencies));
    assert.deepEqual(findLag(latencies), []);
    // What lags on is late in every change; a single one is late when another test computes.
    const soonest = [Math.min(...after)];
    assert.deepEqual(
      findLag({ alone: paced(before), beside: soonest }),
      [],
      'it has ended, and lags on',
    );
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
