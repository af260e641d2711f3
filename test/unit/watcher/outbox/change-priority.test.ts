/** How soon which change is sent (ADR 0079), told by when a watcher sends it just after a flush. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_WATCHER_OPTIONS } from '../../../../src/watcher/session/options.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
} from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';

/** A slice costs so much here that the three intervals differ: none, a tenth, and the whole. */
const flush = { ...DEFAULT_WATCHER_OPTIONS.flush, intervalMsPerSlice: 600 };
const TAINTED = { spec: { taints: [{ key: 'starting', effect: 'NoSchedule' }] } };
/** Of a DaemonSet that is being rolled out. */
const BEHIND = {
  status: {
    observedGeneration: 1,
    desiredNumberScheduled: 9,
    currentNumberScheduled: 9,
    updatedNumberScheduled: 1,
  },
};
/** Of one whose first pods are made. */
const BEGUN = {
  status: {
    observedGeneration: 1,
    desiredNumberScheduled: 9,
    currentNumberScheduled: 1,
    updatedNumberScheduled: 1,
  },
};

/**
 * How soon the change is sent by a watcher that flushed just before: a few milliseconds (urgent), the shorter interval after
 * that flush (awaited) or the longer one (normal), or so long after the change (calm).
 */
async function waitOf(
  change: (harness: WatcherHarness) => void,
  before: (harness: WatcherHarness) => void = () => undefined,
): Promise<'urgent' | 'awaited' | 'normal' | 'calm'> {
  const harness = createWatcherHarness({ flush });
  const { clock, source } = harness;
  source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
  before(harness);
  const watcher = await harness.startSettled();
  source.put('Pod', podDraft('other', { app: 'agent' }));
  await clock.advance(flush.waitMs.normal + 1);
  await clock.advance(50);
  harness.news();
  change(harness);
  const changedMs = clock.monotonicMs();
  await clock.advanceUntil(() => harness.news().length > 0, { withinMs: 1_000 });
  await watcher.stop();
  const waitedMs = clock.monotonicMs() - changedMs;
  if (waitedMs <= flush.waitMs.urgent + 1) return 'urgent';
  if (waitedMs <= flush.intervalMs) return 'awaited';
  return waitedMs < flush.waitMs.calm - 20 ? 'normal' : 'calm';
}

describe('a change that somebody waits for', () => {
  it('is a node that a DaemonSet may use now, or may use no longer', async () => {
    const join = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1'));
    };
    const taint = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1', TAINTED));
    };
    assert.equal(await waitOf(join), 'urgent');
    assert.equal(await waitOf(join, taint), 'urgent');
    assert.equal(await waitOf(taint, join), 'urgent');
  });

  it('is an edit of a DaemonSet', async () => {
    const edit = ({ source }: WatcherHarness): void => {
      const metadata = { name: 'agent', namespace: 'infra', uid: 'ds1', generation: 2 };
      source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', metadata }));
    };
    assert.equal(await waitOf(edit), 'urgent');
  });

  it('is a pod that somebody took away, or that ended, while its DaemonSet is not rolled out', async () => {
    const pod = podDraft('p', { owner: 'ds1', uid: 'p1', ready: true });
    const put = ({ source }: WatcherHarness): void => {
      source.put('Pod', pod);
    };
    const remove = ({ source }: WatcherHarness): void => {
      source.remove('Pod', { name: 'p', namespace: 'infra' });
    };
    const fail = ({ source }: WatcherHarness): void => {
      source.put('Pod', { ...pod, status: { phase: 'Failed' } });
    };
    const rollOut = (harness: WatcherHarness): void => {
      put(harness);
      harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...BEHIND }));
    };
    assert.equal(await waitOf(remove, put), 'urgent');
    assert.equal(await waitOf(fail, put), 'urgent');
    assert.equal(await waitOf(remove, rollOut), 'normal');
    assert.equal(await waitOf(fail, rollOut), 'normal');
  });

  it('is the Ready of a labelled DaemonSet’s pod on a node with a taint that is not of Kubernetes', async () => {
    const OF_KUBERNETES = 'node.kubernetes.io/not-ready';
    const ready = ({ source }: WatcherHarness): void => {
      source.put('Pod', podDraft('p', { owner: 'ds1', uid: 'p1', node: 'n1', ready: true }));
    };
    const starting =
      (label: string, key = 'starting') =>
      ({ source }: WatcherHarness): void => {
        const labels = { 'rollcall.dev/start-up': label };
        const metadata = { name: 'agent', namespace: 'infra', uid: 'ds1', generation: 1, labels };
        source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', metadata }));
        const taints = [{ key, effect: 'NoSchedule' }];
        source.put('Node', nodeDraft('n1', { spec: { taints } }));
        source.put('Pod', podDraft('p', { owner: 'ds1', uid: 'p1', node: 'n1' }));
      };
    assert.equal(await waitOf(ready, starting('true')), 'awaited');
    assert.equal(await waitOf(ready, starting('false')), 'calm');
    assert.equal(await waitOf(ready, starting('true', OF_KUBERNETES)), 'calm');
  });
});

describe('a change that leads to nothing by itself', () => {
  it('is a node that no DaemonSet may use yet, or that changes nothing for any', async () => {
    const taint = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1', TAINTED));
    };
    const join = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1'));
    };
    const label = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1', { metadata: { name: 'n1', labels: { rack: 'b' } } }));
    };
    assert.equal(await waitOf(taint), 'calm');
    assert.equal(await waitOf(label, join), 'calm');
  });

  it('is a pod that was just made, and one that becomes ready while nothing is rolled out', async () => {
    const make = ({ source }: WatcherHarness): void => {
      source.put('Pod', podDraft('p', { owner: 'ds1', uid: 'p1' }));
    };
    const ready = ({ source }: WatcherHarness): void => {
      source.put('Pod', podDraft('p', { owner: 'ds1', uid: 'p1', ready: true }));
    };
    const rollOut = ({ source }: WatcherHarness): void => {
      source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...BEHIND }));
    };
    assert.equal(await waitOf(make), 'calm');
    assert.equal(await waitOf(make, rollOut), 'calm');
    assert.equal(await waitOf(ready, make), 'calm');
    const both = (harness: WatcherHarness): void => {
      make(harness);
      rollOut(harness);
    };
    assert.equal(await waitOf(ready, both), 'normal', 'it frees a place in the budget');
    const end = ({ source }: WatcherHarness): void => {
      const { metadata, ...rest } = podDraft('p', { owner: 'ds1', uid: 'p1', ready: true });
      const deletionTimestamp = '2026-11-01T00:00:00Z';
      source.put('Pod', { ...rest, metadata: { ...metadata, deletionTimestamp } });
    };
    const standing = (harness: WatcherHarness): void => {
      ready(harness);
      rollOut(harness);
    };
    assert.equal(await waitOf(end, standing), 'calm', 'its place is free when it is gone');
    const begin = (harness: WatcherHarness): void => {
      make(harness);
      harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...BEGUN }));
    };
    assert.equal(await waitOf(ready, begin), 'calm', 'first pods wait for nobody’s budget');
  });

  it('is a pod that goes after its node: none is made in its place', async () => {
    const stand = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1'));
      source.put('Pod', podDraft('p', { owner: 'ds1', uid: 'p1', node: 'n1', ready: true }));
    };
    const stay = (harness: WatcherHarness): void => {
      stand(harness);
      harness.source.remove('Node', { name: 'n1' });
    };
    const remove = ({ source }: WatcherHarness): void => {
      source.remove('Pod', { name: 'p', namespace: 'infra' });
    };
    assert.equal(await waitOf(remove, stand), 'urgent');
    assert.equal(await waitOf(remove, stay), 'calm');
  });

  it('is not a pod of which nobody knows whose it is, nor what cannot be judged', async () => {
    const orphan = ({ source }: WatcherHarness): void => {
      source.put('Pod', podDraft('p', { app: 'agent' }));
    };
    const gone = ({ source }: WatcherHarness): void => {
      source.remove('Node', { name: 'n1' });
    };
    const join = ({ source }: WatcherHarness): void => {
      source.put('Node', nodeDraft('n1'));
    };
    assert.equal(await waitOf(orphan), 'normal');
    assert.equal(await waitOf(gone, join), 'normal');
  });
});
