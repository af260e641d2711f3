/** Stamps that stand above what comes: no view calls itself whole over them (protocol 2, 14, S8, L1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ClusterUid,
  Epoch,
  Incarnation,
  Uid,
} from '../../../../../src/core/model/identifiers.ts';
import { stampOf } from '../../../../../src/core/model/position.ts';
import { emptyState } from '../../../../../src/core/model/state.ts';
import type { IngestResult } from '../../../../../src/app/ingest/message/result.ts';
import type { SlicedSet, ViewStore } from '../../../../../src/ports/stores/view-store.ts';
import { IngestHarness } from '../../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../../support/scripted-sender.ts';

const WORLD = [daemonSetOf('logs'), nodeOf('n1'), podOf('p1', ['ds-logs'])];

async function settled(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '100' });
  sender.know(WORLD);
  await harness.ingestAll(sender.snapshot());
  return { harness, sender };
}

/** What of one DaemonSet's view stands above META: a run reads it again and again (`view-moving`). */
async function above(harness: IngestHarness): Promise<readonly string[]> {
  const meta = await harness.meta();
  const newest = stampOf(meta);
  const ref = harness.ref('ds-logs');
  const position = await harness.position('ds-logs');
  const stamps = {
    name: (await harness.view.readName(ref.clusterUid, { namespace: 'ops', name: 'logs' }))?.stamp,
    daemonSet: (await harness.view.readDaemonSet(ref))?.stamp,
    pods: position.podsChanged,
    revisions: position.revisionsChanged,
    nodes: meta.nodesChanged,
    node: (await harness.slice('nodes'))?.stamp,
    pod: (await harness.slice('pods/ds-logs'))?.stamp,
  };
  return Object.entries(stamps).flatMap(([what, stamp]) =>
    stamp !== undefined && stamp <= newest ? [] : [`${what}: ${stamp ?? 'missing'}`],
  );
}

async function forget(harness: IngestHarness, ...prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) harness.view.lose(prefix);
  harness.restart();
  await harness.clock.advance(120_000);
}

const [clusterUid, uid] = ['uid-of-c1' as ClusterUid, 'ds-logs' as Uid];
const later = stampOf({
  era: 3,
  epoch: '100' as Epoch,
  incarnation: 'i-100' as Incarnation,
  seq: 2,
});

async function restamp(view: ViewStore, set: SlicedSet): Promise<void> {
  const ref = { clusterUid, set, index: 0 };
  const stored = await view.readSlice(ref);
  assert.ok(stored !== undefined);
  await view.writeSlice(ref, { ...stored, stamp: later }, stored.stamp);
}

describe('the era of a META that was lost (row 34, S8)', () => {
  it('comes after all that stands: DaemonSets, not names and slices of nodes alone', async () => {
    const { harness, sender } = await settled();
    for (const era of [2, 3]) {
      await forget(harness, 'META');
      await harness.ingestAll(sender.snapshot());
      assert.equal((await harness.meta()).era, era);
    }
    await forget(harness, 'META', 'SLICE');
    const last = await harness.ingestAll(sender.snapshot());
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
    assert.deepEqual(await above(harness), []);
    assert.equal((await harness.meta()).era, 4);
  });

  for (const set of [`pods/${uid}`, `revisions/${uid}`] as const) {
    it(`comes after slices whose position went with META: ${set.slice(0, set.indexOf('/'))}`, async () => {
      const { harness, sender } = await settled();
      await restamp(harness.view, set);
      await forget(harness, 'META');
      const last = await harness.ingestAll(sender.snapshot());
      assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
      assert.equal((await harness.meta()).era, 4);
      assert.deepEqual(await above(harness), []);
    });
  }

  it('comes after that of a state, whose marks would vouch for another history', async () => {
    const { harness, sender } = await settled();
    const state = { ...emptyState(0), written: { era: 5 } };
    await harness.view.writeState(harness.ref('ds-logs'), state);
    await forget(harness, 'META', 'SLICE', 'POSITION', 'DAEMONSET');
    await harness.ingestAll(sender.snapshot());
    assert.equal((await harness.meta()).era, 6);
  });
});

describe('a snapshot over stamps that are later than its own (L1, protocol 18)', () => {
  const WHERE: Readonly<Record<string, (view: ViewStore) => Promise<unknown>>> = {
    'a position': async (view) => {
      const meta = await view.readMeta(clusterUid);
      assert.ok(meta !== undefined);
      const raised = { podsChanged: later, revisionsChanged: later };
      await view.writeMeta({ ...meta, positions: { ...meta.positions, [uid]: raised } });
    },
    'a DaemonSet': (view) =>
      view.writeDaemonSet({ clusterUid, uid }, { stamp: later, object: null }),
    'a name': (view) =>
      view.writeName(clusterUid, { namespace: 'ops', name: 'logs', uid, stamp: later }),
    'a slice of nodes': (view) => restamp(view, 'nodes'),
    'a slice of pods': (view) => restamp(view, `pods/${uid}`),
  };

  for (const [where, raise] of Object.entries(WHERE)) {
    it(`does not complete the view; the snapshot after it does, in an era of its own: ${where}`, async () => {
      const { harness, sender } = await settled();
      await raise(harness.view);
      const results: IngestResult[] = [];
      for (const message of sender.snapshot({ reason: 'requested' })) {
        results.push(await harness.ingest(message));
      }
      const losses = results.filter(({ kind }) => kind === 'incomplete');
      assert.deepEqual(losses, [{ kind: 'incomplete', reason: 'stamp-ahead' }]);
      const meta = await harness.meta();
      assert.deepEqual([meta.era, meta.isComplete, meta.marks], [4, false, {}]);
      assert.equal(harness.lease.requests.length, 1, 'a snapshot is asked for');
      const next = await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
      assert.deepEqual(next, { kind: 'applied', hints: 1, isComplete: true });
      assert.deepEqual(await above(harness), []);
    });
  }
});
