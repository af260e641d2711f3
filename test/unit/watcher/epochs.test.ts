/** Epochs, the Lease, and etcd going back (protocol 14, 15, 17; faults rows 71, 72, 80). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { SourceRequest } from '../../support/scripted-watch-source.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  listWatchOptions,
  nodeDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

function holderOf(lease: KubernetesObject | undefined): unknown {
  return (lease?.['spec'] as { holderIdentity?: unknown } | undefined)?.holderIdentity;
}

function annotate(harness: WatcherHarness, value: string): void {
  harness.source.editLease((lease) => ({
    ...lease,
    metadata: {
      ...lease.metadata,
      annotations: { 'rollcall.dev/snapshot-requested': value, foreign: 'kept' },
    },
  }));
}

describe('taking the lease', () => {
  test('the epoch is the version that the taking write returned, with its incarnation (protocol 14)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const { epoch, incarnation } = watcher.status();
    assert.equal(epoch, harness.source.lease?.metadata.resourceVersion);
    assert.equal(incarnation, holderOf(harness.source.lease));
    const [first] = harness.queue.accepted;
    assert.equal(first?.epoch, epoch);
    assert.equal(first?.incarnation, incarnation);
    assert.equal(first?.clusterUid, harness.source.uid);
    await watcher.stop();
  });

  test('every start is a higher epoch with another incarnation, also with the same seed', async () => {
    const harness = createWatcherHarness();
    const first = await harness.startSettled(1);
    const { epoch } = first.status();
    await first.stop();
    const second = await harness.startSettled(2);
    assert.ok(Number(second.status().epoch) > Number(epoch));
    assert.equal(harness.ingest().isComplete, true);
    await second.stop();
  });

  test('an ambiguous write is repeated, whether it was applied or not', async () => {
    for (const kind of ['ambiguous-applied', 'ambiguous-lost', 'conflict'] as const) {
      const harness = createWatcherHarness();
      let count = 0;
      harness.source.faultOf = ({ op }) => {
        if (op !== 'write-lease' || count >= 3) return undefined;
        count += 1;
        return { kind };
      };
      const watcher = await harness.startSettled();
      assert.equal(count, 3);
      assert.equal(watcher.status().incarnation, holderOf(harness.source.lease));
      const own = Number(watcher.status().epoch);
      assert.ok(own <= Number(harness.source.lease?.metadata.resourceVersion));
      await watcher.stop();
    }
  });

  test('nothing is sent, listed or watched before it was taken', async () => {
    const harness = createWatcherHarness();
    harness.source.faultOf = ({ op }) =>
      op === 'read-lease' ? { kind: 'unauthorized', message: 'HTTP 403' } : undefined;
    const watcher = harness.newWatcher();
    await watcher.start();
    await harness.clock.advance(600_000);
    assert.equal(harness.queue.tries.length, 0);
    const others = new Set(harness.source.requests.map(({ op }) => op));
    assert.deepEqual(others, new Set(['cluster-uid', 'read-lease']));
    await watcher.stop();
  });

  test('it lists only when the queue has accepted the announcement (row 80)', async () => {
    const harness = createWatcherHarness();
    let isDown = true;
    harness.queue.faultOf = () => (isDown ? 'ambiguous' : undefined);
    const watcher = harness.newWatcher();
    await watcher.start();
    await harness.clock.advance(120_000);
    const isRead = ({ op }: SourceRequest): boolean => op === 'list' || op === 'watch';
    assert.ok(!harness.source.requests.some(isRead));
    // What an older watcher ships now is older than the list that follows.
    harness.source.put('Node', nodeDraft('n1'));
    isDown = false;
    await harness.clock.advance(60_000);
    assert.ok(harness.source.requests.some(isRead));
    assert.equal(harness.ingest().set('nodes').size, 1);
    await watcher.stop();
  });
});

describe('holding the lease', () => {
  test('renewals keep foreign annotations, and read again on a conflict', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const epoch = watcher.status().epoch;
    annotate(harness, 'not a token!');
    const renewedBefore = (harness.source.lease?.['spec'] as { renewTime: string }).renewTime;
    await harness.clock.advance(60_000);
    assert.equal(harness.source.lease?.metadata.annotations?.['foreign'], 'kept');
    assert.notEqual(
      (harness.source.lease?.['spec'] as { renewTime: string }).renewTime,
      renewedBefore,
    );
    assert.equal(watcher.status().epoch, epoch);
    assert.equal(harness.queue.bodies('announcement').length, 1);
    await watcher.stop();
  });

  test('a renewal that fails once is tried again at once, whatever failed before the last one that worked', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const { clock, source } = harness;
    const failures: number[] = [];
    const failFor = async (times: number): Promise<void> => {
      const until = failures.length + times;
      source.faultOf = ({ op }) => {
        if (op !== 'write-lease' || failures.length >= until) return undefined;
        failures.push(clock.monotonicMs());
        return { kind: 'unavailable', message: 'away for a moment' };
      };
      const isHeld = source.lease?.metadata.resourceVersion;
      await clock.advanceUntil(
        () => failures.length >= until && source.lease?.metadata.resourceVersion !== isHeld,
        { withinMs: 120_000 },
      );
    };
    await failFor(5);
    await failFor(2);
    const [first = 0, second = 0] = failures.slice(-2);
    assert.ok(second - first < 1_000, `after ${String(second - first)} ms`);
    await watcher.stop();
  });

  test('a request for a snapshot is announced with its id, once (protocol 17)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    annotate(harness, 'request-1');
    await harness.clock.advance(60_000);
    annotate(harness, 'request-2');
    await harness.clock.advance(60_000);
    const announced = harness.queue
      .bodies('announcement')
      .map(({ reason, requestId }) => [reason, requestId]);
    assert.deepEqual(announced, [
      ['start', undefined],
      ['requested', 'request-1'],
      ['requested', 'request-2'],
    ]);
    assert.equal(harness.queue.bodies('manifest').length, 3);
    await watcher.stop();
  });

  test('a request that stood in the lease already is echoed by the first announcement', async () => {
    const harness = createWatcherHarness();
    annotate(harness, 'waiting');
    const watcher = await harness.startSettled();
    await harness.clock.advance(60_000);
    const ids = harness.queue.bodies('announcement').map(({ requestId }) => requestId);
    assert.deepEqual(ids, ['waiting']);
    await watcher.stop();
  });

  test('a deleted lease does no harm: a new, higher epoch (row 72)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const former = Number(watcher.status().epoch);
    harness.source.editLease(() => null);
    await harness.clock.advance(60_000);
    assert.ok(Number(watcher.status().epoch) > former);
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(10);
    assert.equal(harness.ingest().set('nodes').size, 1);
    await watcher.stop();
  });

  test('of two watchers the newer one counts, and the older sends nothing more (row 72)', async () => {
    const harness = createWatcherHarness();
    const older = await harness.startSettled(1);
    const newer = await harness.startSettled(2);
    await harness.clock.advance(30_000);
    assert.equal(older.status().state, 'standby');
    harness.news();
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(3_600_000);
    assert.ok(harness.news().every(({ epoch }) => epoch === newer.status().epoch));
    assert.equal(newer.status().state, 'running');
    assert.equal(harness.queue.bodies('announcement').length, 2);
    await newer.stop();
    await harness.clock.advance(120_000);
    assert.equal(older.status().state, 'running');
    assert.ok(Number(older.status().epoch) > Number(newer.status().epoch ?? 0));
    assert.equal(harness.ingest().isComplete, true);
    await older.stop();
  });

  test('two starts of one identity share no deduplication id (row 72)', async () => {
    const harness = createWatcherHarness();
    const first = await harness.startSettled(7);
    await first.stop();
    const contents = harness.source.backup();
    const second = await harness.startSettled(8);
    await second.stop();
    // etcd goes back, and the next epoch has a number that was used before.
    harness.source.restore(contents);
    const third = await harness.startSettled(9);
    const ids = new Set(
      harness.queue.accepted.map(({ epoch, incarnation }) => `${epoch}/${incarnation}`),
    );
    assert.equal(ids.size, 3);
    await third.stop();
  });
});

describe('etcd restored from a backup', () => {
  test('a lease version below the own one is a new epoch with reason restored (row 71)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const contents = harness.source.backup();
    harness.source.put('Node', nodeDraft('n1'));
    harness.source.put('DaemonSet', daemonSetDraft('agent'));
    await harness.clock.advance(120_000);
    harness.news();
    harness.source.restore(contents);
    await harness.clock.advance(60_000);
    const [first] = harness.news();
    const reason = first?.body.kind === 'announcement' ? first.body.reason : undefined;
    assert.equal(reason, 'restored');
    assert.equal(watcher.status().session?.objects.Node, 0);
    assert.equal(watcher.status().session?.phase, 'steady');
    await watcher.stop();
  });

  test('a renewal that is gone is one, though the new history got past the own version (row 71, protocol 15)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const { epoch } = watcher.status();
    const contents = harness.source.backup();
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(120_000);
    harness.news();
    harness.source.restore(contents);
    // Others write at once and much, and somebody asks for a snapshot, before it renews again.
    harness.source.version += 10_000;
    annotate(harness, 'request-1');
    await harness.clock.advance(60_000);
    const [first] = harness.news();
    const reason = first?.body.kind === 'announcement' ? first.body.reason : undefined;
    assert.equal(reason, 'restored');
    assert.notEqual(watcher.status().epoch, epoch);
    assert.equal(watcher.status().session?.objects.Node, 0);
    await watcher.stop();
  });

  test('a Lease of an earlier watcher, below the own version, is one as well: nothing else tells (row 71)', async () => {
    const harness = createWatcherHarness();
    const former = await harness.startSettled(1);
    const contents = harness.source.backup();
    await former.stop();
    harness.source.version += 100;
    const watcher = await harness.startSettled(2);
    harness.news();
    // No stream breaks, and no list is asked for: only the Lease shows it.
    harness.source.version = contents.version;
    harness.source.editLease(() => contents.lease ?? null);
    await harness.clock.advance(20_000);
    const [first] = harness.news();
    const reason = first?.body.kind === 'announcement' ? first.body.reason : undefined;
    assert.equal(reason, 'restored');
    await watcher.stop();
  });

  test('a watcher that stands by takes a Lease from before its own at once: its holder is of a lost history (row 71)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const held = (holder: string) =>
      harness.source.editLease((lease) => ({
        ...lease,
        spec: { ...(lease['spec'] as object), holderIdentity: holder },
      }));
    held('another');
    await harness.clock.advance(15_000);
    assert.equal(watcher.status().state, 'standby');
    harness.source.version -= 500;
    held('one-of-the-backup');
    await harness.clock.advance(5000);
    assert.equal(watcher.status().state, 'running');
    await watcher.stop();
  });

  test('a clock that was put back takes no renewal for a restored one (row 14)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const { epoch } = watcher.status();
    harness.clock.stepWall(-600_000);
    // What it wrote itself it finds by reading, where the answer is lost.
    harness.source.faultOf = ({ op }) =>
      op === 'write-lease' ? { kind: 'ambiguous-applied' } : undefined;
    await harness.clock.advance(120_000);
    assert.equal(watcher.status().epoch, epoch);
    await watcher.stop();
  });

  test('a bookmark, or a list, at the own mark is none: a quiet cluster stays in its epoch (protocol 15)', async () => {
    const harness = createWatcherHarness();
    harness.source.put('Node', nodeDraft('n1'));
    const watcher = await harness.startSettled();
    for (const _repeat of [1, 2]) {
      harness.source.bookmark('Node');
      await harness.clock.advance(1000);
    }
    harness.source.send('Node', {
      kind: 'failed',
      failure: { kind: 'expired', message: 'gone' },
    });
    await harness.clock.advance(1000);
    assert.equal(harness.queue.bodies('announcement').length, 1);
    await watcher.stop();
  });

  test('a bookmark below the own mark is one, too, and so is a list (protocol 15)', async () => {
    for (const hasWatchList of [true, false]) {
      const harness = createWatcherHarness(listWatchOptions({ isWatchListWanted: hasWatchList }));
      harness.source.hasWatchList = hasWatchList;
      harness.source.put('Node', nodeDraft('n1'));
      const watcher = await harness.startSettled();
      const { version } = harness.source;
      if (hasWatchList) {
        harness.source.bookmark('Node', version - 500);
      } else {
        harness.source.version = version - 500;
        harness.source.send('Node', {
          kind: 'failed',
          failure: { kind: 'expired', message: 'gone' },
        });
      }
      await harness.clock.advance(1000);
      assert.equal(harness.queue.bodies('announcement').at(-1)?.reason, 'restored');
      harness.source.version = version + 1000;
      await watcher.stop();
    }
  });
});
