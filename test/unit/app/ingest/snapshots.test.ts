/** Snapshots: when a view becomes complete, what a manifest sweeps, and what a loss demands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import { NO_POSITION } from '../../../../src/core/model/view-items.ts';
import type { NameRange, WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import {
  ScriptedSender,
  daemonSetOf,
  nodeOf,
  podOf,
  revisionOf,
  wrongHashes,
} from '../../../support/scripted-sender.ts';

const WORLD = [
  daemonSetOf('logs'),
  daemonSetOf('mesh'),
  nodeOf('n1'),
  nodeOf('n2'),
  podOf('p1', ['ds-logs']),
  revisionOf('r1', 'ds-logs'),
];

function senderOf(epoch: string, sliceCount = 1): ScriptedSender {
  const sender = new ScriptedSender({ epoch });
  sender.sliceCount = sliceCount;
  sender.know(WORLD);
  return sender;
}

async function settled(
  sliceCount = 1,
): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = senderOf('100', sliceCount);
  await harness.ingestAll(sender.snapshot());
  harness.queue.clear();
  harness.view.calls.length = 0;
  return { harness, sender };
}

describe('a snapshot', () => {
  it('row 81: leaves the view incomplete until its manifest, which hints every key', async () => {
    const harness = new IngestHarness();
    const sender = senderOf('100');
    for (const message of [sender.announce(), sender.slices(['daemonsets', 'pods/ds-logs'])]) {
      const result = await harness.ingest(message);
      assert.deepEqual(result, { kind: 'applied', hints: 0, isComplete: false });
      assert.equal((await harness.meta()).isComplete, false);
    }
    await harness.ingest(sender.slices(['nodes', 'revisions/ds-logs']));
    assert.equal((await harness.meta()).isComplete, false);
    const last = await harness.ingest(sender.manifest());
    assert.deepEqual(last, { kind: 'applied', hints: 2, isComplete: true });
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs', 'c1/ops/mesh']);
    const meta = await harness.meta();
    assert.equal(meta.isCutOpen, false);
    assert.equal(meta.incompleteReason, undefined);
    assert.deepEqual(meta.marks, sender.marks);
  });

  it('protocol 18: every slice of a live set exists, also an empty one', async () => {
    const harness = new IngestHarness();
    await harness.ingestAll(senderOf('100', 4).snapshot());
    for (const set of ['nodes', 'pods/ds-logs', 'pods/ds-mesh'] as const) {
      for (const index of [0, 1, 2, 3])
        assert.ok(await harness.slice(set, index), `${set}#${index}`);
    }
    assert.ok(await harness.slice('revisions/ds-mesh'));
    assert.equal((await harness.meta()).isComplete, true);
    assert.equal((await harness.meta()).sliceCount, 4);
  });

  it('writes slices and DaemonSets only where they differ: a restart wakes nobody', async () => {
    const { harness } = await settled();
    const stamps = async (): Promise<unknown> => [
      (await harness.slice('nodes'))?.stamp,
      (await harness.slice('pods/ds-logs'))?.stamp,
      (await harness.view.readDaemonSet(harness.ref('ds-logs')))?.stamp,
      await harness.position('ds-logs'),
      (await harness.meta()).nodesChanged,
      (await harness.meta()).daemonSetsChanged,
    ];
    const before = await stamps();
    await harness.ingestAll(senderOf('200').snapshot());
    assert.deepEqual(await stamps(), before);
    assert.equal((await harness.meta()).epoch, '200');
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs', 'c1/ops/mesh']);
  });

  it('protocol 18: after a loss every slice is written anew', async () => {
    const { harness, sender } = await settled();
    const before = await harness.slice('nodes');
    sender.seq += 1;
    await harness.ingest(sender.heartbeat());
    await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    const after = await harness.slice('nodes');
    assert.ok(before !== undefined && after !== undefined && after.stamp > before.stamp);
    assert.deepEqual(after.objects, before.objects);
    assert.equal((await harness.meta()).isComplete, true);
    await harness.ingestAll(sender.snapshot({ reason: 'periodic' }));
    assert.equal((await harness.slice('nodes'))?.stamp, after.stamp, 'but only once');
  });

  it('protocol 16: deltas of the epoch are applied between its slices, in order', async () => {
    const harness = new IngestHarness();
    const sender = senderOf('100');
    await harness.ingest(sender.announce());
    await harness.ingest(sender.slices(['daemonsets', 'nodes']));
    await harness.ingest(sender.changes([nodeOf('n1', 7)], { gone: ['node-uid-n2'], cut: false }));
    await harness.ingest(sender.slices(sender.sets().slice(2)));
    await harness.ingest(sender.changes([podOf('p2', ['ds-logs']), daemonSetOf('new')]));
    const result = await harness.ingest(sender.manifest());
    assert.deepEqual(result, { kind: 'applied', hints: 3, isComplete: true });
    assert.deepEqual(await harness.namesIn('nodes'), ['n1']);
    assert.deepEqual(await harness.namesIn('pods/ds-logs'), ['p1', 'p2']);
  });

  it('a delta into a slice that an older epoch left replaces it: what it held means nothing', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([podOf('stale', ['ds-gone'])]));
    const next = senderOf('200');
    await harness.ingest(next.announce());
    await harness.ingest(next.slices());
    await harness.ingest(next.changes([podOf('fresh', ['ds-gone'])]));
    await harness.ingest(next.manifest());
    assert.deepEqual(await harness.namesIn('pods/ds-gone'), ['fresh']);
  });

  it('protocol 18: a loss between announcement and manifest keeps the view incomplete', async () => {
    const { harness } = await settled();
    const sender = senderOf('200');
    await harness.ingestAll([sender.announce(), sender.slices()]);
    const meta = await harness.meta();
    await harness.view.writeMeta({ ...meta, broken: meta.broken + 1 });
    const result = await harness.ingest(sender.manifest());
    assert.deepEqual(result, { kind: 'incomplete', reason: 'snapshot-broken' });
    assert.equal((await harness.meta()).isComplete, false);
    const again = await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    assert.deepEqual(again, { kind: 'applied', hints: 2, isComplete: true });
  });

  it('protocol 19: a manifest whose hashes differ closes nothing', async () => {
    const { harness } = await settled();
    const sender = senderOf('200');
    await harness.ingestAll([sender.announce(), sender.slices()]);
    const cut = sender.cut();
    const wrong = sender.manifest({ cut: { ...cut, hashes: wrongHashes(cut.hashes) } });
    assert.deepEqual(await harness.ingest(wrong), { kind: 'incomplete', reason: 'snapshot-hash' });
    assert.equal((await harness.meta()).isComplete, false);
  });

  it('a manifest of another snapshot, or a slice beyond the count, is a loss', async () => {
    const { harness } = await settled();
    const sender = senderOf('200');
    await harness.ingestAll([sender.announce(), sender.slices()]);
    const other = await harness.ingest(sender.manifest({ announcedSeq: 99 }));
    assert.deepEqual(other, { kind: 'incomplete', reason: 'snapshot-broken' });
    await harness.ingest(sender.announce());
    sender.sliceCount = 4;
    const misplaced = await harness.ingest(sender.slices());
    assert.deepEqual(misplaced, { kind: 'incomplete', reason: 'snapshot-broken' });
    sender.sliceCount = 1;
    const without = await harness.ingest(sender.manifest());
    assert.deepEqual(without, { kind: 'awaiting-snapshot' });
  });

  it('protocol 16: a new slice count makes the view incomplete until it is whole again', async () => {
    const { harness, sender } = await settled(4);
    await harness.ingest(sender.announce({ reason: 'threshold', sliceCount: 1 }));
    assert.equal((await harness.meta()).isComplete, false);
    assert.equal((await harness.meta()).sliceCount, 4, 'until the manifest');
    await harness.ingestAll([sender.slices(), sender.manifest()]);
    assert.deepEqual(await harness.namesIn('nodes', 0), ['n1', 'n2']);
    for (const index of [1, 2, 3]) assert.deepEqual(await harness.namesIn('nodes', index), []);
    assert.equal((await harness.meta()).sliceCount, 1);
    await harness.ingestAll(sender.snapshot({ reason: 'threshold', sliceCount: 4 }));
    const all = await Promise.all([0, 1, 2, 3].map((index) => harness.namesIn('nodes', index)));
    assert.deepEqual(all.flat().sort(), ['n1', 'n2']);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('protocol 17: the six-hourly snapshot leaves a complete view complete, without deletes', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.announce({ reason: 'periodic' }));
    const during = await harness.meta();
    assert.deepEqual([during.isComplete, during.isCutOpen], [true, true]);
    sender.marks = { ...sender.marks, Pod: resourceVersion('900') };
    await harness.ingest(sender.heartbeat());
    const heartbeat = await harness.meta();
    assert.equal(heartbeat.marks.Pod, '100', 'a mark would vouch for slices not sent yet');
    assert.equal(heartbeat.isCutOpen, true);
    await harness.ingestAll([sender.slices(), sender.manifest()]);
    const after = await harness.meta();
    assert.deepEqual([after.isComplete, after.isCutOpen, after.marks.Pod], [true, false, '900']);
  });

  it('protocol 9: META tells when the snapshot that made it complete was announced', async () => {
    const { harness, sender } = await settled();
    const announcedAtMs = harness.clock.nowMs() + 5_000;
    await harness.ingest(sender.announce({ reason: 'requested' }), { sentAtMs: announcedAtMs });
    assert.notEqual((await harness.meta()).announcedAtMs, announcedAtMs, 'not before its manifest');
    await harness.clock.advance(9_000);
    await harness.ingestAll([sender.slices(), sender.manifest()]);
    assert.equal((await harness.meta()).announcedAtMs, announcedAtMs);
  });
});

describe('the sweep of a snapshot', () => {
  const liveOf = async (harness: IngestHarness): Promise<readonly string[]> => {
    const page = await harness.view.listNames((await harness.meta()).clusterUid, { limit: 10 });
    return page.names.map(({ name }) => name).sort();
  };

  /** Portions of the DaemonSets of a sender that knows all of them, with other ranges. */
  const portionOf = (
    sender: ScriptedSender,
    names: readonly string[],
    covers: NameRange,
  ): WatcherMessage => {
    const objects = sender
      .members('daemonsets')
      .filter(({ object }) => names.includes(object.name));
    return sender.message({
      kind: 'slices',
      slices: [{ set: 'daemonsets', index: 0, objects, covers }],
    });
  };

  it('takes what a portion covers and does not hold, and leaves what others cover', async () => {
    const { harness } = await settled();
    const next = senderOf('200');
    next.forget('ds-logs');
    await harness.ingest(next.announce());
    await harness.ingest(portionOf(next, ['mesh'], { after: 'ops/logs' }));
    assert.deepEqual(await liveOf(harness), ['logs', 'mesh']);
    assert.notEqual((await harness.view.readDaemonSet(harness.ref('ds-logs')))?.object, null);
    await harness.ingest(portionOf(next, [], { after: 'ops/', upTo: 'ops/logs' }));
    assert.deepEqual(await liveOf(harness), ['mesh']);
    assert.equal((await harness.view.readDaemonSet(harness.ref('ds-logs')))?.object, null);
    assert.deepEqual(await harness.namesIn('pods/ds-logs'), []);
    await harness.ingest(next.slices(next.sets().filter((set) => set !== 'daemonsets')));
    const last = await harness.ingest(next.manifest());
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
  });

  it('leaves the name to another one that came under it while nobody watched (row 38, 82)', async () => {
    const { harness } = await settled();
    const next = senderOf('200');
    next.forget('ds-mesh');
    next.know([daemonSetOf('mesh', 9, 'ds-mesh-2')]);
    const last = await harness.ingestAll(next.snapshot());
    assert.deepEqual(last, { kind: 'applied', hints: 2, isComplete: true });
    const { clusterUid } = await harness.meta();
    const name = await harness.view.readName(clusterUid, { namespace: 'ops', name: 'mesh' });
    assert.deepEqual([name?.uid, name?.formerUids], ['ds-mesh-2', ['ds-mesh']]);
    assert.equal((await harness.view.readDaemonSet(harness.ref('ds-mesh')))?.object, null);
  });

  it('goes on where a delivery ended, and META tells that names changed (protocol 20)', async () => {
    const { harness } = await settled();
    const before = (await harness.meta()).daemonSetsChanged;
    const next = senderOf('200');
    next.forget('ds-logs');
    await harness.ingest(next.announce());
    const portion = next.slices();
    harness.view.hooks = {
      before: ({ operation }) => {
        if (operation === 'writeMeta') throw new Error('injected');
      },
    };
    await assert.rejects(harness.ingest(portion));
    harness.view.hooks = {};
    harness.restart();
    await harness.ingest(portion);
    await harness.ingest(next.manifest());
    assert.deepEqual(await liveOf(harness), ['mesh']);
    assert.ok((await harness.meta()).daemonSetsChanged > before);
  });

  it('row 82: a DaemonSet deleted while nobody watched is swept, its items kept for an epoch', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([podOf('m1', ['ds-mesh'])]));
    const { clusterUid } = await harness.meta();
    const nameOf = (): Promise<unknown> =>
      harness.view.readName(clusterUid, { namespace: 'ops', name: 'mesh' });
    const next = senderOf('200');
    next.forget('ds-mesh');
    harness.queue.clear();
    await harness.ingestAll(next.snapshot());
    assert.equal((await harness.view.readDaemonSet(harness.ref('ds-mesh')))?.object, null);
    const swept = await harness.slice('pods/ds-mesh');
    assert.deepEqual(swept?.objects, []);
    assert.ok(swept.stamp.includes('200.'), 'emptied under this stamp');
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs']);
    const listed = await harness.view.listNames(clusterUid, { limit: 10 });
    assert.deepEqual(
      listed.names.map(({ name }) => name),
      ['logs'],
    );
    await harness.ingestAll(next.snapshot({ reason: 'periodic' }));
    assert.ok(await harness.slice('pods/ds-mesh'), 'not in the same epoch');
    const third = senderOf('300');
    third.forget('ds-mesh');
    await harness.ingestAll(third.snapshot());
    assert.equal(await harness.slice('pods/ds-mesh'), undefined);
    assert.equal(await harness.view.readDaemonSet(harness.ref('ds-mesh')), undefined);
    assert.deepEqual(await harness.position('ds-mesh'), NO_POSITION);
    assert.equal(await nameOf(), undefined);
    assert.ok(await harness.slice('pods/ds-logs'), 'what lives stays');
  });

  it('what a DaemonSet of the same name left is removed one epoch later, too', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(
      sender.changes([daemonSetOf('mesh', 9, 'ds-mesh-2')], { gone: ['ds-mesh'] }),
    );
    const next = new ScriptedSender({ epoch: '200' });
    next.know([daemonSetOf('logs'), daemonSetOf('mesh', 9, 'ds-mesh-2'), nodeOf('n1')]);
    await harness.ingestAll(next.snapshot());
    assert.equal(await harness.view.readDaemonSet(harness.ref('ds-mesh')), undefined);
    assert.ok(await harness.view.readDaemonSet(harness.ref('ds-mesh-2')));
    const name = await harness.view.readName((await harness.meta()).clusterUid, {
      namespace: 'ops',
      name: 'mesh',
    });
    assert.deepEqual([name?.uid, name?.formerUids], ['ds-mesh-2', undefined]);
  });

  it('what its state told goes to items of the log before the state is removed', async () => {
    const { harness, sender } = await settled();
    const { clusterUid } = await harness.meta();
    const ref = harness.ref('ds-mesh');
    const entries = [{ kind: 'wait', atMs: 7, code: 'no-access' }] as const;
    await harness.view.writeState(ref, { ...emptyState(0), log: { entries } });
    await harness.ingest(
      sender.changes([daemonSetOf('mesh', 9, 'ds-mesh-2')], { gone: ['ds-mesh'] }),
    );
    const next = new ScriptedSender({ epoch: '200' });
    next.know([daemonSetOf('logs'), daemonSetOf('mesh', 9, 'ds-mesh-2'), nodeOf('n1')]);
    await harness.ingestAll(next.snapshot());
    assert.equal(await harness.view.readState(ref), undefined);
    const { items } = await harness.view.listLogItems(clusterUid, { day: '1970-01-01', nowMs: 8 });
    const subject = { kind: 'daemon-set', namespace: 'ops', name: 'mesh', uid: 'ds-mesh' };
    assert.deepEqual(
      items.map((item) => [item.subject, item.entries]),
      [[subject, entries]],
    );
  });

  it('nodes and pods that vanished while nobody watched are gone from their slices', async () => {
    const { harness } = await settled();
    const next = senderOf('200');
    next.forget('node-uid-n2');
    next.forget('pod-uid-p1');
    const before = (await harness.meta()).nodesChanged;
    await harness.ingestAll(next.snapshot());
    assert.deepEqual(await harness.namesIn('nodes'), ['n1']);
    assert.deepEqual(await harness.namesIn('pods/ds-logs'), []);
    assert.ok((await harness.meta()).nodesChanged > before);
  });

  it('row 87: a view that was lost whole, or by parts, is rebuilt by a snapshot', async () => {
    for (const prefix of ['', 'META', 'SLICE', 'NAME', 'DAEMONSET', 'POSITION']) {
      const { harness, sender } = await settled();
      const whole = Object.keys(harness.view.dump());
      harness.view.lose(prefix);
      harness.restart();
      const next = senderOf('200');
      const last = await harness.ingestAll(next.snapshot());
      assert.deepEqual(last, { kind: 'applied', hints: 2, isComplete: true }, prefix);
      assert.deepEqual(Object.keys(harness.view.dump()), whole, prefix);
      assert.deepEqual(await harness.namesIn('pods/ds-logs'), ['p1'], prefix);
      const late = await harness.ingest(sender.changes([podOf('late', ['ds-logs'])]));
      assert.equal(late.kind, 'stale-epoch', prefix);
    }
  });
});
