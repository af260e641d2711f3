/** Snapshots inside an epoch: folding, thresholds, sizes, manifests (protocol 16, 17, 18). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sliceIndexOf } from '../../../src/core/projections/set-hash.ts';
import type { SnapshotSlice, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

function putNodes(harness: WatcherHarness, count: number): void {
  for (let index = 0; index < count; index += 1) {
    harness.source.put('Node', nodeDraft(`n${String(index)}`));
  }
}

function kinds(messages: readonly WatcherMessage[]): string[] {
  return messages.map(({ body }) => body.kind);
}

describe('snapshot', () => {
  test('every slice of a live set is sent, even an empty one, and the manifest lists nothing', async () => {
    const harness = createWatcherHarness();
    putNodes(harness, 301);
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    const watcher = await harness.startSettled();
    const slices = harness.queue.bodies('slices').flatMap((body) => body.slices);
    const pods = slices.filter(({ set }) => set === 'pods/ds1');
    assert.deepEqual(pods.map(({ index }) => index).sort(), [0, 1, 2, 3]);
    const revisions = slices.filter(({ set }) => set === 'revisions/ds1');
    assert.deepEqual(
      revisions.map(({ index }) => index),
      [0],
    );
    const [manifest] = harness.queue.bodies('manifest');
    assert.equal(manifest?.sliceCount, 4);
    assert.deepEqual(Object.keys(manifest).sort(), ['announcedSeq', 'cut', 'kind', 'sliceCount']);
    await watcher.stop();
  });

  test('the first announcement cannot know the node count: a second one corrects it (protocol 16)', async () => {
    const harness = createWatcherHarness();
    putNodes(harness, 2001);
    const watcher = await harness.startSettled();
    const announced = harness.queue
      .bodies('announcement')
      .map(({ reason, sliceCount }) => [reason, sliceCount]);
    assert.deepEqual(announced, [
      ['start', 1],
      ['threshold', 16],
    ]);
    assert.equal(harness.queue.bodies('manifest')[0]?.announcedSeq, 2);
    await watcher.stop();
  });

  test('crossing a threshold announces again, falling below does not (protocol 16)', async () => {
    const harness = createWatcherHarness();
    putNodes(harness, 300);
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.put('Node', nodeDraft('one-more'));
    await harness.clock.advance(100);
    assert.deepEqual(harness.queue.bodies('announcement').at(-1), {
      kind: 'announcement',
      sliceCount: 4,
      reason: 'threshold',
    });
    harness.source.remove('Node', { name: 'one-more' });
    await harness.clock.advance(60_000);
    assert.equal(harness.queue.bodies('announcement').length, 2);
    assert.equal(harness.ingest().set('nodes').size, 300);
    await watcher.stop();
  });

  test('it is repeated every six hours without being asked (protocol 17)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    await harness.clock.advance(24 * 3_600_000);
    const reasons = harness.queue.bodies('announcement').map(({ reason }) => reason);
    assert.ok(reasons.length >= 4 && reasons.length <= 6, String(reasons));
    assert.ok(reasons.slice(1).every((reason) => reason === 'periodic'));
    assert.equal(harness.queue.bodies('manifest').length, reasons.length);
    await watcher.stop();
  });

  test('a type that cannot be listed for longer than that makes no busy loop', async () => {
    const harness = createWatcherHarness();
    let isAllowed = false;
    harness.source.faultOf = (request) => {
      const isRefused = !isAllowed && 'kind' in request && request.kind === 'ControllerRevision';
      return isRefused ? { kind: 'unavailable', message: 'forbidden' } : undefined;
    };
    const watcher = harness.newWatcher();
    await watcher.start();
    await harness.clock.advance(8 * 3_600_000);
    isAllowed = true;
    await harness.clock.advance(60_000);
    assert.equal(watcher.status().session?.phase, 'steady');
    await watcher.stop();
  });

  test('a change before its slice is folded into it, a change after is a delta (protocol 16)', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 12_000 });
    putNodes(harness, 301);
    const watcher = harness.newWatcher();
    harness.queue.sendMs = 100;
    await watcher.start();
    const slicesSent = (): readonly SnapshotSlice[] =>
      harness.queue.bodies('slices').flatMap(({ slices }) => slices);
    await harness.clock.advanceUntil(() => slicesSent().some(({ set }) => set === 'nodes'), {
      withinMs: 10_000,
    });
    const sent = slicesSent();
    const isSent = (name: string): boolean =>
      sent.some(({ set, index }) => set === 'nodes' && index === sliceIndexOf(name, 16));
    const names = harness.source.objects('Node').map(({ metadata }) => metadata.name);
    const early = names.find((name) => isSent(name)) ?? assert.fail();
    const late = names.findLast((name) => !isSent(name)) ?? assert.fail();
    for (const name of [early, late]) {
      harness.source.put('Node', nodeDraft(name, { spec: { unschedulable: true } }));
    }
    harness.queue.sendMs = 0;
    await harness.clock.advance(1000);
    const deltas = harness.queue.bodies('changes').flatMap((body) => body.deltas);
    assert.deepEqual(
      deltas.map(({ name }) => name),
      [early],
    );
    const inSlices = harness.queue
      .bodies('slices')
      .flatMap(({ slices }) => slices.flatMap(({ objects }) => objects))
      .filter(({ object }) => object.kind === 'Node' && object.unschedulable);
    assert.deepEqual(
      inSlices.map(({ object }) => object.name),
      [late],
    );
    const nodes = [...harness.ingest().set('nodes').values()];
    assert.equal(nodes.filter((node) => node.kind === 'Node' && node.unschedulable).length, 2);
    await watcher.stop();
  });

  test('while it runs, deltas are without cut: only the manifest closes (protocol 2, 16)', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 12_000 });
    putNodes(harness, 301);
    const watcher = harness.newWatcher();
    harness.queue.sendMs = 20;
    await watcher.start();
    for (let round = 0; round < 100; round += 1) {
      const spec = { unschedulable: round % 2 === 0 };
      harness.source.put('Node', nodeDraft(`n${String(round % 7)}`, { spec }));
      harness.source.put('DaemonSet', daemonSetDraft(`agent${String(round % 3)}`));
      if (round % 3 === 0)
        harness.source.remove('DaemonSet', { name: 'agent1', namespace: 'infra' });
      await harness.clock.advance(11);
    }
    await harness.clock.advance(60_000);
    const messages = harness.queue.accepted;
    const closed = messages.findIndex(({ body }) => body.kind === 'manifest');
    assert.ok(closed > 4);
    for (const { body } of messages.slice(0, closed)) {
      assert.ok(body.kind !== 'changes' || body.cut === undefined);
    }
    assert.equal(harness.ingest().set('nodes').size, 301);
    await watcher.stop();
  });

  test('a slice that fits no message gets more slices (protocol 16)', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 30_000 });
    putNodes(harness, 250);
    const watcher = await harness.startSettled();
    const announced = harness.queue.bodies('announcement').map(({ sliceCount }) => sliceCount);
    assert.deepEqual(announced, [1, 4]);
    assert.ok(harness.queue.tries.every(({ sizeBytes }) => sizeBytes <= 30_000));
    assert.equal(harness.ingest().set('nodes').size, 250);
    await watcher.stop();
  });

  test('a set that grows towards the item limit is announced again (protocol 16)', async () => {
    const harness = createWatcherHarness({ sliceBytesMax: 6_000 });
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    const watcher = await harness.startSettled();
    for (let index = 0; index < 200; index += 1) {
      harness.source.put('Pod', podDraft(`p${String(index)}`, { owner: 'ds1' }));
      await harness.clock.advance(10);
    }
    await harness.clock.advance(500);
    const announced = harness.queue.bodies('announcement').map(({ sliceCount }) => sliceCount);
    assert.ok(announced.length >= 2);
    assert.ok((announced.at(-1) ?? 0) > 1);
    assert.equal(harness.ingest().set('pods/ds1').size, 200);
    await watcher.stop();
  });

  test('what was refused once travels whole again with its next change after a periodic snapshot (protocol 22)', async () => {
    const harness = createWatcherHarness();
    const refused = harness.source.put('DaemonSet', daemonSetDraft('refused'));
    const kindOfIt = (): string | undefined =>
      harness.ingest().set('daemonsets').get(refused.metadata.uid)?.kind;
    harness.queue.faultOf = (message) =>
      message.body.kind === 'slices' && JSON.stringify(message).includes('matchLabels')
        ? 'refused'
        : undefined;
    const watcher = harness.newWatcher();
    await watcher.start();
    await harness.clock.advance(600_000);
    assert.equal(kindOfIt(), 'Opaque');
    harness.queue.faultOf = () => undefined;
    const { uid } = refused.metadata;
    harness.source.put('DaemonSet', daemonSetDraft('refused', { uid, paused: 1 }));
    await harness.clock.advance(60_000);
    assert.equal(kindOfIt(), 'Opaque', 'not at every change');
    await harness.clock.advance(7 * 3_600_000);
    harness.source.put('DaemonSet', daemonSetDraft('refused', { uid, paused: 2 }));
    await harness.clock.advance(60_000);
    assert.equal(kindOfIt(), 'DaemonSet');
    await watcher.stop();
  });

  test('at sixteen slices the largest objects travel opaque rather than not at all (protocol 22)', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 5500 });
    putNodes(harness, 400);
    const watcher = await harness.startSettled();
    assert.equal(watcher.status().session?.sliceCount, 16);
    const nodes = [...harness.ingest().set('nodes').values()];
    assert.equal(nodes.length, 400);
    assert.ok(nodes.some(({ kind }) => kind === 'Opaque'));
    await watcher.stop();
  });

  test('a snapshot covers what vanished while no watcher ran (row 82)', async () => {
    const harness = createWatcherHarness();
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    harness.source.put('Pod', podDraft('p', { owner: 'ds1' }));
    const first = await harness.startSettled(1);
    await first.stop();
    harness.source.remove('Pod', { name: 'p', namespace: 'infra' });
    harness.source.remove('DaemonSet', { name: 'agent', namespace: 'infra' });
    const second = await harness.startSettled(2);
    const reader = harness.ingest();
    assert.deepEqual([...reader.sets.keys()].sort(), ['daemonsets', 'nodes']);
    assert.equal(reader.set('daemonsets').size, 0);
    await second.stop();
  });

  test('snapshots that are refused for good come at the pace of the back-off, also when asked for (protocol 17, 22)', async () => {
    const harness = createWatcherHarness();
    harness.queue.faultOf = ({ body }) => (body.kind === 'manifest' ? 'refused' : undefined);
    const watcher = harness.newWatcher();
    await watcher.start();
    const minutes = 3 * 60;
    for (let minute = 0; minute < minutes; minute += 1) {
      await harness.clock.advance(60_000);
      if (minute % 5 > 0) continue;
      harness.source.editLease((lease) => {
        const annotations = { 'rollcall.dev/snapshot-requested': String(minute) };
        return { ...lease, metadata: { ...lease.metadata, annotations } };
      });
    }
    // Ten until the pause is ten minutes, less a quarter; one for each of those after it.
    const announced = harness.queue.bodies('announcement').length;
    assert.ok(announced <= 10 + minutes / 7.5, String(announced));
    harness.queue.faultOf = () => undefined;
    await harness.clock.advance(15 * 60_000);
    assert.equal(harness.ingest().isComplete, true);
    await watcher.stop();
  });

  test('many empty slices share a message', async () => {
    const harness = createWatcherHarness();
    for (let index = 0; index < 12; index += 1) {
      harness.source.put('DaemonSet', daemonSetDraft(`agent${String(index)}`));
    }
    const watcher = await harness.startSettled();
    assert.deepEqual(kinds(harness.queue.accepted), [
      'announcement',
      'slices',
      'slices',
      'manifest',
    ]);
    await watcher.stop();
  });
});
