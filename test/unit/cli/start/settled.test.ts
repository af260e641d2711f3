/** When `npm start -- --exit-when-settled` may leave. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeSettled } from '../../../../src/cli/start/table.ts';
import type { ClusterOverview } from '../../../../src/engine/overview.ts';
import { cluster, daemonSet } from './fixtures.ts';

const SHORT_MS = 2000;
const LONG_MS = 10_000;

function waitingFor(overview: ClusterOverview, quietMs: number): string {
  const settled = judgeSettled(overview, quietMs);
  return settled.kind === 'settled' ? '' : settled.waitingFor;
}

describe('settled', () => {
  it('is a complete, quiet cluster whose pods are available', () => {
    assert.equal(waitingFor(cluster(), SHORT_MS), '');
    assert.equal(waitingFor(cluster(), SHORT_MS - 1), 'quiet');
  });

  it('waits longer for quiet while some pods are not available', () => {
    const unavailable = cluster({ daemonSets: [daemonSet({ available: 2, ready: 2 })] });
    assert.equal(waitingFor(unavailable, SHORT_MS), 'quiet');
    assert.equal(waitingFor(unavailable, LONG_MS), '');
  });

  it('is never an incomplete view, and says why', () => {
    const incomplete = cluster({ isViewComplete: false, incompleteReason: 'seq-skipped' });
    assert.match(waitingFor(incomplete, LONG_MS), /seq-skipped/);
  });

  for (const [what, changes, text] of [
    ['a run that was not complete', { isComplete: false }, /complete run/],
    ['an open effect', { openIntents: 2 }, /2 open effects/],
    ['an old status', { generation: 2 }, /its status/],
    ['missing pods', { current: 1 }, /2 pods to be created/],
  ] as const) {
    it(`waits for ${what}, and names the DaemonSet`, () => {
      const busy = cluster({ daemonSets: [daemonSet(changes)] });
      assert.match(waitingFor(busy, LONG_MS), text);
      assert.match(waitingFor(busy, LONG_MS), /node-agents\/log-collector/);
    });
  }

  it('does not wait for anybody’s pods in mode observe', () => {
    const observed = cluster({ mode: 'observe', daemonSets: [daemonSet({ current: 0 })] });
    assert.equal(waitingFor(observed, LONG_MS), '');
  });
});
