/** Pods that leave a slice leave a tombstone in it, or beside it where it has no room (S13, ADR 0030, ADR 0076). */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { clusterUid, nodeName } from '../../../../src/core/model/identifiers.ts';
import type { IngestOptions } from '../../../../src/app/ingest/process/dependencies.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import type { Tombstone } from '../../../../src/core/model/projections.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../support/scripted-sender.ts';
import type { Standing } from '../../../support/scripted-sender.ts';
import { failingAtWrite } from '../../../support/store-hooks.ts';

const MINUTES = 60_000;
/** More than a manifest of one DaemonSet writes. */
const WRITES_MAX = 40;

/** A pod of `logs` that is aimed at a node. */
function placed(name: string, onNode: string, version = 1): Standing {
  const { object, sets } = podOf(name, ['ds-logs'], { version });
  assert.ok(object.kind === 'Pod');
  const labels = { 'controller-revision-hash': 'h1' };
  return { object: { ...object, targetNode: nodeName(onNode), labels }, sets };
}

interface Scene {
  readonly harness: IngestHarness;
  readonly sender: ScriptedSender;
  readonly gone: () => Promise<readonly Tombstone[]>;
}

/** Set by each of the blocks below, before any of its tests. */
let options: Partial<IngestOptions> = {};

async function scene(pods: readonly Standing[]): Promise<Scene> {
  const harness = new IngestHarness(undefined, options);
  const sender = new ScriptedSender({ epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1'), ...pods]);
  await harness.ingestAll(sender.snapshot());
  const ref = { clusterUid: clusterUid('uid-of-c1'), set: 'pods/ds-logs', index: 0 } as const;
  const gone = async (): Promise<readonly Tombstone[]> => {
    const { gone: own = [], older, objects = [] } = (await harness.view.readSlice(ref)) ?? {};
    if (older === undefined) return own;
    const { version = 0, gone: moved = [] } = (await harness.view.readOlderTombstones(ref)) ?? {};
    assert.ok(version >= older.version, 'what a slice refers to is there');
    // As a run does: who lives has none (core/view/view.ts), and twice the same is once.
    const known = new Set([...own, ...objects.map(({ object }) => object)].map(({ uid }) => uid));
    return [...own, ...moved.filter(({ uid }) => !known.has(uid))];
  };
  return { harness, sender, gone };
}

/** Pods on a node each, in four slices. */
async function shrinkable(names: readonly string[]): Promise<Scene> {
  const at = await scene([]);
  at.sender.know(names.map((name) => placed(name, `n-${name}`)));
  await at.harness.ingestAll(at.sender.snapshot({ reason: 'threshold', sliceCount: 4 }));
  return at;
}

const namesOf = async ({ gone }: Scene): Promise<readonly string[]> =>
  (await gone()).map(({ name }) => name);

/** All of them in their slice; only what just went, or one more; none at all. */
for (const sliceTombstonesMax of [64, 1, 0]) {
  describe(`tombstones, ${String(sliceTombstonesMax)} of a slice in it (S13)`, () => {
    before(() => {
      options = { sliceTombstonesMax };
    });

    it('are left by a delta, with the time of its message, whoever applies it and when', async () => {
      const at = await scene([placed('p1', 'n1'), placed('p2', 'n2')]);
      const sentAtMs = at.harness.clock.nowMs() - 5000;
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p1'] }), { sentAtMs });
      assert.deepEqual(await at.gone(), [
        {
          name: 'p1',
          uid: 'pod-uid-p1',
          node: 'n1',
          revision: 'h1',
          createdAtMs: 1,
          goneAtMs: sentAtMs,
        },
      ]);
    });

    it('are left by a snapshot that holds a pod no more, and kept by one that changes nothing', async () => {
      const at = await scene([placed('p1', 'n1'), placed('p2', 'n2')]);
      at.sender.forget('pod-uid-p1');
      await at.harness.ingestAll(at.sender.snapshot());
      assert.deepEqual(await namesOf(at), ['p1']);
      await at.harness.ingestAll(at.sender.snapshot());
      assert.deepEqual(await namesOf(at), ['p1']);
      at.sender.forget('pod-uid-p2');
      await at.harness.ingestAll(at.sender.snapshot());
      assert.deepEqual(
        (await namesOf(at)).toSorted(),
        ['p1', 'p2'],
        'also where a slice is empty now',
      );
    });

    it('outlast a new epoch, whose changes come before its slices', async () => {
      const at = await scene([placed('p1', 'n1'), placed('p2', 'n2')]);
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p1'] }));
      const next = new ScriptedSender({ epoch: '200' });
      next.know([daemonSetOf('logs'), nodeOf('n1'), placed('p2', 'n2')]);
      await at.harness.ingest(next.announce());
      await at.harness.ingest(next.changes([placed('p3', 'n3')]));
      await at.harness.ingestAll([next.slices(), next.manifest()]);
      assert.deepEqual(await namesOf(at), ['p1'], 'p2 lives, whatever a part of the snapshot said');
    });

    it('go ten minutes later, with a write that was due anyway', async () => {
      const at = await scene([placed('p1', 'n1'), placed('p2', 'n2')]);
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p1'] }));
      const writes = at.harness.view.calls.length;
      await at.harness.clock.advance(10 * MINUTES);
      assert.equal(at.harness.view.calls.length, writes, 'never a write of their own');
      await at.harness.ingest(at.sender.changes([placed('p2', 'n2', 2)]));
      assert.deepEqual(await namesOf(at), ['p1'], 'ten minutes are not over yet');
      await at.harness.clock.advance(1);
      await at.harness.ingest(at.sender.changes([placed('p2', 'n2', 3)]));
      assert.deepEqual(await namesOf(at), []);
    });

    it('do not grow by churn: of a node and revision the newest sixteen stay', async () => {
      const at = await scene([placed('p0', 'n1')]);
      for (let index = 0; index < 20; index += 1) {
        await at.harness.clock.advance(1000);
        await at.harness.ingest(at.sender.changes([placed(`p${index + 1}`, 'n1')]));
        await at.harness.ingest(at.sender.changes([], { gone: [`pod-uid-p${index}`] }));
      }
      const newest = Array.from({ length: 16 }, (_, index) => `p${19 - index}`);
      assert.deepEqual(await namesOf(at), newest);
    });

    it('outlast slices that a smaller view has no more (S13)', async () => {
      const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
      const at = await shrinkable(names);
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p0', 'pod-uid-p1'] }));
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p2', 'pod-uid-p3'] }));
      at.sender.forget('pod-uid-p4');
      at.sender.forget('pod-uid-p5');
      await at.harness.ingestAll(at.sender.snapshot({ reason: 'threshold', sliceCount: 1 }));
      assert.equal((await at.harness.meta()).sliceCount, 1);
      assert.deepEqual((await namesOf(at)).toSorted(), ['p0', 'p1', 'p2', 'p3', 'p4', 'p5']);
      assert.equal((await at.harness.namesIn('pods/ds-logs')).length, 6);
    });

    it('outlast such a manifest that dies at any of its writes, and come again with it (S13, row 1)', async () => {
      const names = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
      for (let write = 0; write < WRITES_MAX; write += 1) {
        const at = await shrinkable(names);
        for (const name of names) {
          await at.harness.ingest(at.sender.changes([], { gone: [`pod-uid-${name}`] }));
        }
        const messages = at.sender.snapshot({ reason: 'threshold', sliceCount: 1 });
        const [manifest] = messages.slice(-1);
        assert.ok(manifest !== undefined);
        await at.harness.ingestAll(messages.slice(0, -1));
        at.harness.view.hooks = failingAtWrite(write, 'after');
        const died = await at.harness.ingest(manifest).then(
          () => false,
          () => true,
        );
        at.harness.view.hooks = {};
        if (died) await at.harness.ingest(manifest);
        assert.deepEqual((await namesOf(at)).toSorted(), names, `write ${write}`);
        if (!died) return;
      }
      assert.fail('a manifest writes without end');
    });

    it('are carried where the set has no pod left at all', async () => {
      const at = await shrinkable(['p0', 'p1', 'p2']);
      const all = ['pod-uid-p0', 'pod-uid-p1', 'pod-uid-p2'];
      await at.harness.ingest(at.sender.changes([], { gone: all }));
      const announcement = at.sender.announce({ reason: 'threshold', sliceCount: 1 });
      // The slices of pods are not sent: empty ones need not be.
      const slices = at.sender.slices(['nodes', 'daemonsets']);
      await at.harness.ingestAll([announcement, slices, at.sender.manifest()]);
      assert.equal((await at.harness.meta()).isComplete, true);
      assert.deepEqual((await namesOf(at)).toSorted(), ['p0', 'p1', 'p2']);
    });

    it('row 71: of a DaemonSet that is gone stay ten minutes: a restored etcd may bring it back', async () => {
      const at = await scene([placed('p1', 'n1')]);
      await at.harness.ingest(at.sender.changes([], { gone: ['pod-uid-p1', 'ds-logs'] }));
      const restart = async (epoch: string): Promise<void> => {
        const next = new ScriptedSender({ epoch });
        next.know([nodeOf('n1')]);
        await at.harness.ingestAll(next.snapshot());
      };
      await restart('200');
      assert.deepEqual(await namesOf(at), ['p1']);
      await at.harness.clock.advance(10 * MINUTES);
      await restart('300');
      assert.deepEqual(await namesOf(at), ['p1'], 'ten minutes are not over yet');
      await at.harness.clock.advance(1);
      await restart('400');
      assert.equal(
        await at.harness.slice('pods/ds-logs'),
        undefined,
        'the sweep was put off, not given up',
      );
    });

    it('row 71: as do those that only its state knows, of pods that no view ever showed', async () => {
      const node = nodeName('n1');
      const [uid, resourceVersion] = ['pod-uid-p9' as never, '9' as never];
      const recordedAtMs = new VirtualClock().nowMs();
      const times = { recordedAtMs, startsByMs: recordedAtMs };
      const intent = { kind: 'create', node, name: 'p9', ...times } as const;
      const buried = { name: 'p9', uid, node, createdAtMs: 1, goneAtMs: recordedAtMs };
      for (const known of [
        { intents: [{ ...intent, answer: { uid, resourceVersion } }] },
        { buried: [buried] },
      ]) {
        const at = await scene([]);
        const ref = { clusterUid: clusterUid('uid-of-c1'), uid: 'ds-logs' as never };
        await at.harness.view.writeState(ref, { ...emptyState(recordedAtMs), ...known });
        await at.harness.ingest(at.sender.changes([], { gone: ['ds-logs'] }));
        const restart = async (epoch: string): Promise<unknown> => {
          const next = new ScriptedSender({ epoch });
          next.know([nodeOf('n1')]);
          await at.harness.ingestAll(next.snapshot());
          return at.harness.view.readState(ref);
        };
        await at.harness.clock.advance(10 * MINUTES);
        assert.notEqual(await restart('200'), undefined, 'ten minutes are not over yet');
        await at.harness.clock.advance(1);
        assert.equal(await restart('300'), undefined);
      }
    });

    it('go with a DaemonSet whose state cannot be read: the view of its cluster does not wait for that', async () => {
      const at = await scene([]);
      await at.harness.ingest(at.sender.changes([], { gone: ['ds-logs'] }));
      const unreadable = { name: 'ItemUnreadableError' };
      at.harness.view.readState = () =>
        Promise.reject(Object.assign(new Error('of a newer release'), unreadable));
      const next = new ScriptedSender({ epoch: '200' });
      next.know([nodeOf('n1')]);
      await at.harness.ingestAll(next.snapshot());
      assert.equal((await at.harness.meta()).isComplete, true);
      assert.equal(await at.harness.slice('pods/ds-logs'), undefined);
      assert.ok(at.harness.log.at('warn').some(({ message }) => message.includes('is unreadable')));
    });

    it('row 71: are left by pods of which nobody told once their DaemonSet was gone', async () => {
      const at = await scene([placed('p1', 'n1')]);
      at.sender.forget('pod-uid-p1');
      await at.harness.ingest(at.sender.changes([], { gone: ['ds-logs'] }));
      const next = new ScriptedSender({ epoch: '200' });
      next.know([nodeOf('n1')]);
      await at.harness.ingestAll(next.snapshot());
      assert.deepEqual(await namesOf(at), ['p1']);
    });

    it('are the same after a redelivery (L2)', async () => {
      const at = await scene([placed('p1', 'n1')]);
      const message = at.sender.changes([], { gone: ['pod-uid-p1'] });
      await at.harness.ingest(message);
      const before = await at.gone();
      await at.harness.clock.advance(1000);
      at.harness.restart();
      await at.harness.ingest(message);
      assert.deepEqual(await at.gone(), before);
      assert.equal(before.length, 1);
    });
  });
}
