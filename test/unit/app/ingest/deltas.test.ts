/** Applying changes: order of writes, what is stored where, and which keys are hinted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORMER_UIDS_MAX } from '../../../../src/app/ingest/slices/former-uids.ts';
import { resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import {
  ScriptedSender,
  daemonSetOf,
  nodeOf,
  podOf,
  revisionOf,
} from '../../../support/scripted-sender.ts';

/** A cluster with two DaemonSets, a node and a pod, its view complete. */
async function settled(
  sliceCount = 1,
): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '100' });
  sender.sliceCount = sliceCount;
  sender.know([
    daemonSetOf('logs'),
    daemonSetOf('mesh'),
    nodeOf('n1'),
    podOf('p1', ['ds-logs']),
    revisionOf('r1', 'ds-logs'),
  ]);
  await harness.ingestAll(sender.snapshot());
  harness.queue.clear();
  harness.view.calls.length = 0;
  return { harness, sender };
}

const writesOf = (harness: IngestHarness): readonly string[] =>
  harness.view.calls.filter(({ isWrite }) => isWrite).map(({ operation }) => operation);

describe('ingest of changes', () => {
  it('protocol 20: writes slices and DaemonSets, then names, META with the positions, then hints', async () => {
    const { harness, sender } = await settled();
    let writesBeforeHint = -1;
    const sendHints = harness.queue.sendHints.bind(harness.queue);
    harness.queue.sendHints = (hints, prefix) => {
      writesBeforeHint = writesOf(harness).length;
      return sendHints(hints, prefix);
    };
    await harness.ingest(sender.changes([daemonSetOf('new'), podOf('p2', ['ds-logs'])]));
    const writes = writesOf(harness);
    const last = (operation: string): number => writes.lastIndexOf(operation);
    assert.ok(last('writeSlice') < writes.indexOf('writeDaemonSet'), writes.join(' '));
    assert.ok(last('writeDaemonSet') < writes.indexOf('writeName'), writes.join(' '));
    assert.ok(last('writeName') < writes.indexOf('writeMeta'), writes.join(' '));
    assert.ok(!writes.includes('raisePosition'), 'ADR 0076: no write of its own');
    assert.equal(writes.at(-1), 'writeMeta');
    assert.equal(writesBeforeHint, writes.length, 'row 76: hints only after META');
  });

  it('spends one read and two writes on a pod in a warm process', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([podOf('p1', ['ds-logs'], { version: 2 })]));
    harness.view.calls.length = 0;
    const result = await harness.ingest(sender.changes([podOf('p1', ['ds-logs'], { version: 3 })]));
    assert.deepEqual(result, { kind: 'applied', hints: 1, isComplete: true });
    assert.deepEqual(
      harness.view.calls.map(({ operation }) => operation),
      ['readMeta', 'writeSlice', 'writeMeta'],
    );
  });

  it('spends one read and two writes on a node in a warm process', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([nodeOf('n2')]));
    harness.view.calls.length = 0;
    const result = await harness.ingest(sender.changes([nodeOf('n2', 2)]));
    assert.deepEqual(result, { kind: 'applied', hints: 2, isComplete: true });
    assert.deepEqual(
      harness.view.calls.map(({ operation }) => operation),
      ['readMeta', 'writeSlice', 'writeMeta'],
    );
  });

  it('protocol 20: a node hints every key of the cluster, and moves nodesChanged', async () => {
    const { harness, sender } = await settled();
    const before = (await harness.meta()).nodesChanged;
    await harness.ingest(sender.changes([nodeOf('n2')]));
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs', 'c1/ops/mesh']);
    assert.ok((await harness.meta()).nodesChanged > before);
    assert.deepEqual(await harness.namesIn('nodes'), ['n1', 'n2']);
  });

  it('protocol 20: pods and revisions hint their DaemonSet alone, and raise its position', async () => {
    const { harness, sender } = await settled();
    const before = await harness.position('ds-mesh');
    await harness.ingest(sender.changes([podOf('p2', ['ds-mesh'])]));
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/mesh']);
    const after = await harness.position('ds-mesh');
    const slice = await harness.slice('pods/ds-mesh');
    assert.equal(after.podsChanged, slice?.stamp, 'the highest stamp of its slices');
    assert.equal(after.revisionsChanged, before.revisionsChanged);
    harness.queue.clear();
    await harness.ingest(sender.changes([revisionOf('r2', 'ds-mesh')]));
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/mesh']);
    const last = await harness.position('ds-mesh');
    assert.equal(last.revisionsChanged, (await harness.slice('revisions/ds-mesh'))?.stamp);
  });

  it('protocol 20: a redelivered message sends its hints again, and writes nothing', async () => {
    const { harness, sender } = await settled();
    const message = sender.changes([nodeOf('n2')]);
    await harness.ingest(message);
    harness.queue.clear();
    harness.queue.forgetDeduplication();
    harness.view.calls.length = 0;
    assert.deepEqual(await harness.ingest(message), { kind: 'duplicate', hints: 2 });
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs', 'c1/ops/mesh']);
    assert.deepEqual(writesOf(harness), []);
  });

  it('protocol 12: hints of one message have an id prefix of their own', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([nodeOf('n2')]));
    await harness.ingest(sender.changes([nodeOf('n2', 2)]));
    assert.deepEqual(
      harness.queue.sends.map(({ prefix }) => prefix),
      ['ingest/c1/100/i-100/4', 'ingest/c1/100/i-100/5'],
    );
    assert.equal(harness.queue.hints.length, 4, 'the second is not swallowed');
  });

  it('protocol 21: an object is removed from the sets where it no longer stands', async () => {
    const { harness, sender } = await settled();
    const orphan = podOf('o1', ['ds-logs', 'ds-mesh'], { isOrphan: true });
    await harness.ingest(sender.changes([orphan]));
    assert.deepEqual(await harness.namesIn('pods/ds-logs'), ['o1', 'p1']);
    assert.deepEqual(await harness.namesIn('pods/ds-mesh'), ['o1']);
    harness.queue.clear();
    await harness.ingest(sender.changes([podOf('o1', ['ds-mesh'], { version: 2 })]));
    assert.deepEqual(await harness.namesIn('pods/ds-logs'), ['p1']);
    assert.deepEqual(await harness.namesIn('pods/ds-mesh'), ['o1']);
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs', 'c1/ops/mesh'], 'both sets');
    await harness.ingest(sender.changes([], { gone: ['pod-uid-o1'] }));
    assert.deepEqual(await harness.namesIn('pods/ds-mesh'), []);
  });

  it('row 85: an orphan seen before its DaemonSet waits in its slice', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([podOf('o1', ['ds-late'], { isOrphan: true })]));
    await harness.ingest(sender.changes([daemonSetOf('late')]));
    assert.deepEqual(await harness.namesIn('pods/ds-late'), ['o1']);
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/late']);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('protocol 18: a new DaemonSet has all its slices, empty, before it is there itself', async () => {
    const { harness, sender } = await settled(4);
    await harness.ingest(sender.changes([daemonSetOf('new')]));
    for (const index of [0, 1, 2, 3]) {
      assert.deepEqual((await harness.slice('pods/ds-new', index))?.objects, []);
    }
    assert.deepEqual((await harness.slice('revisions/ds-new'))?.objects, []);
    assert.equal(await harness.slice('revisions/ds-new', 1), undefined);
    const item = await harness.view.readDaemonSet(harness.ref('ds-new'));
    assert.equal(item?.object?.metadata.name, 'new');
    const name = await harness.view.readName((await harness.meta()).clusterUid, {
      namespace: 'ops',
      name: 'new',
    });
    assert.equal(name?.uid, 'ds-new');
  });

  it('row 73: an edit of a DaemonSet moves its stamp, not the list of names', async () => {
    const { harness, sender } = await settled();
    const before = await harness.view.readDaemonSet(harness.ref('ds-logs'));
    const listed = (await harness.meta()).daemonSetsChanged;
    await harness.ingest(sender.changes([daemonSetOf('logs', 2)]));
    const after = await harness.view.readDaemonSet(harness.ref('ds-logs'));
    assert.ok(before !== undefined && after !== undefined && after.stamp > before.stamp);
    assert.equal((await harness.meta()).daemonSetsChanged, listed);
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs']);
  });

  it('row 38: a DaemonSet re-made under its name has the name, in either order of deltas', async () => {
    for (const order of ['gone first', 'new first']) {
      const { harness, sender } = await settled();
      const again = daemonSetOf('logs', 5, 'ds-logs-2');
      const message = sender.changes([again], { gone: ['ds-logs'] });
      assert.equal(message.body.kind, 'changes');
      const deltas = message.body.kind === 'changes' ? [...message.body.deltas] : [];
      if (order === 'new first') deltas.reverse();
      await harness.ingest({ ...message, body: { ...message.body, deltas } });
      const { clusterUid } = await harness.meta();
      const name = await harness.view.readName(clusterUid, { namespace: 'ops', name: 'logs' });
      assert.equal(name?.uid, 'ds-logs-2', order);
      assert.deepEqual(name.formerUids, ['ds-logs']);
      assert.equal((await harness.view.readDaemonSet(harness.ref('ds-logs')))?.object, null);
      await harness.ingest(sender.changes([podOf('p9', ['ds-logs-2'])]));
      assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs']);
    }
  });

  it('A.7: a name that is used again 300 times in an epoch stays small, and leaves nothing behind', async () => {
    const { harness, sender } = await settled();
    const { clusterUid } = await harness.meta();
    let former = 'ds-logs';
    for (let count = 0; count < 300; count += 1) {
      const next = `ds-logs-${count}`;
      await harness.ingest(sender.changes([daemonSetOf('logs', 5, next)], { gone: [former] }));
      former = next;
    }
    const name = await harness.view.readName(clusterUid, { namespace: 'ops', name: 'logs' });
    assert.equal(name?.uid, former);
    assert.equal(name.formerUids?.length, FORMER_UIDS_MAX);
    assert.equal(name.formerUids.at(-1), 'ds-logs-298', 'the last ones stay until the sweep');
    const items = Object.keys(harness.view.dump()).filter((key) => key.includes('ds-logs'));
    assert.deepEqual(
      items.filter((key) => /ds-logs(-\d|-1[0-8]\d)?( |$)/.test(key)),
      [],
      'what fell out of the list is gone',
    );
    assert.ok(items.length <= 5 * (FORMER_UIDS_MAX + 1), `${items.length} items`);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('A.7: a list that is too long shrinks with each change', async () => {
    const { harness, sender } = await settled();
    const { clusterUid } = await harness.meta();
    const key = { namespace: 'ops', name: 'logs' };
    const stored = await harness.view.readName(clusterUid, key);
    assert.ok(stored !== undefined);
    const formerUids = Array.from({ length: 400 }, (_, index) => uid(`old-${index}`));
    const { stamp: now } = stored;
    harness.view.restore({
      ...harness.view.dump(),
      [`NAME ${clusterUid} ops/logs`]: { ...stored, formerUids, stamp: now },
    });
    const lengths: (number | undefined)[] = [];
    for (const [next, former] of [
      ['a', 'ds-logs'],
      ['b', 'a'],
    ] as const) {
      await harness.ingest(sender.changes([daemonSetOf('logs', 5, next)], { gone: [former] }));
      lengths.push((await harness.view.readName(clusterUid, key))?.formerUids?.length);
    }
    assert.deepEqual(lengths, [391, 382]);
  });

  it('a deletion that comes after the successor leaves the name to it', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([daemonSetOf('logs', 5, 'ds-logs-2')]));
    await harness.ingest(sender.changes([], { gone: ['ds-logs'] }));
    const { clusterUid } = await harness.meta();
    const name = await harness.view.readName(clusterUid, { namespace: 'ops', name: 'logs' });
    assert.equal(name?.uid, 'ds-logs-2');
  });

  it('protocol 22: an opaque DaemonSet affects its own set alone', async () => {
    const { harness, sender } = await settled();
    const { object } = daemonSetOf('logs', 9);
    const opaque = {
      kind: 'Opaque',
      of: 'DaemonSet',
      namespace: 'ops',
      name: 'logs',
      uid: object.uid,
      resourceVersion: resourceVersion('9'),
      reason: 'too-large',
    } as const;
    await harness.ingest(sender.changes([{ object: opaque, sets: ['daemonsets'] }]));
    const item = await harness.view.readDaemonSet(harness.ref('ds-logs'));
    assert.deepEqual([item?.object, item?.opaqueReason], [null, 'too-large']);
    const { clusterUid } = await harness.meta();
    const name = await harness.view.readName(clusterUid, { namespace: 'ops', name: 'logs' });
    assert.equal(name?.uid, 'ds-logs', 'it still stands under its name');
    assert.deepEqual(harness.queue.hintedKeys(), ['c1/ops/logs']);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('protocol 2: only a cut carries marks and closes the flush', async () => {
    const { harness, sender } = await settled();
    sender.marks = { ...sender.marks, Pod: resourceVersion('200') };
    await harness.ingest(sender.changes([podOf('p2', ['ds-logs'])], { cut: false }));
    assert.equal((await harness.meta()).isCutOpen, true);
    assert.equal((await harness.meta()).marks.Pod, '100');
    await harness.ingest(sender.changes([]));
    assert.equal((await harness.meta()).isCutOpen, false);
    assert.equal((await harness.meta()).marks.Pod, '200');
  });

  it('S8: marks of one epoch never fall', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.heartbeat({ ...sender.marks, Pod: resourceVersion('1000') }));
    await harness.ingest(sender.heartbeat({ ...sender.marks, Pod: resourceVersion('999') }));
    assert.equal((await harness.meta()).marks.Pod, '1000');
  });

  it('protocol 1: a cut tells when each type was heard, by the queue’s clock', async () => {
    const { harness, sender } = await settled();
    const sentAtMs = harness.clock.nowMs() + 60_000;
    await harness.ingest(sender.heartbeat(), { sentAtMs });
    const meta = await harness.meta();
    assert.equal(meta.lastSentAtMs, sentAtMs);
    assert.equal(meta.heardAtMs.Pod, sentAtMs - 5);
    assert.equal(harness.metrics.recorded('IngestLag').at(-1), 0, 'skew is no negative lag');
  });

  it('protocol 1: a frozen message is as old as its cut, however late the queue took it', async () => {
    const { harness, sender } = await settled();
    const sentAtMs = harness.clock.nowMs() + 3_600_000;
    await harness.ingest(sender.heartbeat(), { sentAtMs, cutAgeMs: 3_500_000 });
    const meta = await harness.meta();
    assert.equal(meta.heardAtMs.Pod, sentAtMs - 3_500_000 - 5);
    assert.equal(meta.lastSentAtMs, sentAtMs, 'the watcher itself was heard of');
  });

  it('row 34: a slice that must exist and does not is a loss, never an empty one', async () => {
    for (const set of ['nodes', 'pods/ds-logs']) {
      const { harness, sender } = await settled();
      harness.view.lose(`SLICE uid-of-c1 ${set}`);
      harness.restart();
      const change = set === 'nodes' ? nodeOf('n2') : podOf('p2', ['ds-logs']);
      const result = await harness.ingest(sender.changes([change]));
      assert.deepEqual(result, { kind: 'incomplete', reason: 'slice-missing' });
      assert.equal((await harness.meta()).isComplete, false);
      assert.equal(harness.lease.requests.length, 1, 'a snapshot is asked for');
    }
  });

  it('protocol 16: an item too large for the table is a loss, not an endless retry', async () => {
    const { harness, sender } = await settled();
    harness.view.hooks.before = ({ operation }) => {
      if (operation !== 'writeSlice') return;
      throw Object.assign(new Error('too large'), { code: 'item-too-large' });
    };
    const result = await harness.ingest(sender.changes([podOf('p2', ['ds-logs'])]));
    assert.deepEqual(result, { kind: 'incomplete', reason: 'item-too-large' });
  });
});
