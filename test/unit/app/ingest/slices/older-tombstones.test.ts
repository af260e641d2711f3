/** Tombstones move to an item of their own before their slice lets go of them: none is lost on the way (S13, ADR 0076). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, nodeName } from '../../../../../src/core/model/identifiers.ts';
import type { SliceRef } from '../../../../../src/ports/stores/view-store.ts';
import { IngestHarness } from '../../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../../support/scripted-sender.ts';
import type { Standing } from '../../../../support/scripted-sender.ts';
import { failingAtWrite } from '../../../../support/store-hooks.ts';

const SLICE_MAX = 2;
const MINUTES = 60_000;
/** More than a delta of pods writes. */
const WRITES_MAX = 10;
const ref: SliceRef = { clusterUid: clusterUid('uid-of-c1'), set: 'pods/ds-logs', index: 0 };

function placed(name: string, version = 1): Standing {
  const { object, sets } = podOf(name, ['ds-logs'], { version });
  assert.ok(object.kind === 'Pod');
  return { object: { ...object, targetNode: nodeName(`n-${name}`) }, sets };
}

/** Pods p0 … p9 of one DaemonSet, in one slice that has room for two tombstones. */
class Scene {
  readonly harness = new IngestHarness(undefined, { sliceTombstonesMax: SLICE_MAX });
  readonly sender = new ScriptedSender({ epoch: '100' });

  async prepare(): Promise<void> {
    const pods = Array.from({ length: 10 }, (_, index) => placed(`p${String(index)}`));
    this.sender.know([daemonSetOf('logs'), nodeOf('n1'), ...pods]);
    await this.harness.ingestAll(this.sender.snapshot());
  }

  messageOf(...indexes: readonly number[]): ReturnType<ScriptedSender['changes']> {
    return this.sender.changes([], { gone: indexes.map((index) => `pod-uid-p${String(index)}`) });
  }

  async remove(...indexes: readonly number[]): Promise<void> {
    await this.harness.ingest(this.messageOf(...indexes));
  }

  /** Names in the slice, and in the item beside it. */
  async stored(): Promise<{ slice: readonly string[]; item: readonly string[]; refers: unknown }> {
    const slice = await this.harness.view.readSlice(ref);
    const item = await this.harness.view.readOlderTombstones(ref);
    const namesOf = (gone: readonly { readonly name: string }[] = []): readonly string[] =>
      gone.map(({ name }) => name).toSorted();
    return {
      slice: namesOf(slice?.gone),
      item: namesOf(item?.gone),
      refers: slice?.older?.version,
    };
  }

  get writes(): number {
    return this.harness.view.calls.filter(({ operation }) => operation === 'writeOlderTombstones')
      .length;
  }
}

async function scene(): Promise<Scene> {
  const made = new Scene();
  await made.prepare();
  return made;
}

describe('older tombstones of a slice', () => {
  it('move when one more comes than fits, all of them at once, and add up', async () => {
    const at = await scene();
    await at.remove(0, 1);
    assert.deepEqual(await at.stored(), { slice: ['p0', 'p1'], item: [], refers: undefined });
    await at.remove(2);
    assert.deepEqual(await at.stored(), { slice: [], item: ['p0', 'p1', 'p2'], refers: 1 });
    await at.remove(3, 4);
    const between = { slice: ['p3', 'p4'], item: ['p0', 'p1', 'p2'], refers: 1 };
    assert.deepEqual(await at.stored(), between);
    at.harness.restart();
    await at.remove(5);
    const all = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
    assert.deepEqual(await at.stored(), { slice: [], item: all, refers: 2 });
    assert.equal(at.writes, 2, 'no write of the item but where they move');
  });

  it('are all there after a crash at any write, and the redelivery, in whatever process', async () => {
    for (const isRestarted of [true, false]) {
      for (let write = 0; write < WRITES_MAX; write += 1) {
        const at = await scene();
        await at.remove(0, 1, 2);
        await at.remove(3, 4);
        const message = at.messageOf(5);
        at.harness.view.hooks = failingAtWrite(write, 'after');
        const died = await at.harness.ingest(message).then(
          () => false,
          () => true,
        );
        at.harness.view.hooks = {};
        if (isRestarted) at.harness.restart();
        await at.harness.ingest(message);
        const { slice, item, refers } = await at.stored();
        assert.deepEqual([...slice, ...item], ['p0', 'p1', 'p2', 'p3', 'p4', 'p5']);
        const { version = 0 } = (await at.harness.view.readOlderTombstones(ref)) ?? {};
        assert.ok(version >= Number(refers), `write ${String(write)}`);
        if (!died) break;
        assert.ok(write < WRITES_MAX - 1, 'a delta writes without end');
      }
    }
  });

  it('are all there where a process writes over what it remembers of an item that moved on', async () => {
    const at = await scene();
    await at.remove(0, 1, 2);
    const sleeper = at.harness.dependencies();
    at.harness.restart();
    // Others move on to a later item, while the sleeper remembers the first.
    await at.remove(3, 4, 5);
    await at.remove(6);
    const slice = await at.harness.view.readSlice(ref);
    const remembered = sleeper.processCache.older(ref);
    assert.equal(remembered?.version, 1);
    at.harness.restart();
    const { processCache } = at.harness.dependencies();
    processCache.keepSlice(ref, slice);
    processCache.keepOlder(ref, remembered);
    await at.remove(7, 8);
    const { slice: own, item } = await at.stored();
    assert.deepEqual([...own, ...item], ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']);
  });

  it('stay of a slice that was lost and is sent anew', async () => {
    const at = await scene();
    await at.remove(0, 1, 2);
    assert.equal(at.harness.view.lose('SLICE uid-of-c1 pods/ds-logs'), 1);
    at.harness.restart();
    await at.remove(3);
    await at.harness.ingestAll(at.sender.snapshot());
    await at.remove(4, 5, 6);
    assert.deepEqual((await at.stored()).item, ['p0', 'p1', 'p2', 'p4', 'p5', 'p6']);
  });

  it('are let go of ten minutes after the last, with a write that was due anyway', async () => {
    const at = await scene();
    await at.remove(0, 1, 2);
    await at.harness.clock.advance(10 * MINUTES);
    await at.harness.ingest(at.sender.changes([placed('p9', 2)]));
    assert.equal((await at.stored()).refers, 1, 'ten minutes are not over yet');
    await at.harness.clock.advance(1);
    await at.harness.ingest(at.sender.changes([placed('p9', 3)]));
    assert.equal((await at.stored()).refers, undefined);
    await at.remove(3, 4, 5);
    assert.deepEqual(await at.stored(), { slice: [], item: ['p3', 'p4', 'p5'], refers: 2 });
  });

  it('are all there where a process writes over a slice of before, in which their pods still stand', async () => {
    const at = await scene();
    const before = await at.harness.view.readSlice(ref);
    await at.remove(0, 1, 2);
    at.harness.restart();
    at.harness.dependencies().processCache.keepSlice(ref, before);
    await at.remove(3, 4, 5);
    const { slice, item } = await at.stored();
    assert.deepEqual([...slice, ...item], ['p0', 'p1', 'p2', 'p3', 'p4', 'p5']);
  });
});
