/** A set that changed by one slice: a warm process decodes that one, and takes the others as it has them. */
import { describe, it } from 'node:test';
import { clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP } from '../../../../../src/core/model/position.ts';
import type { Stamp } from '../../../../../src/core/model/position.ts';
import type { Projection } from '../../../../../src/core/model/projections.ts';
import type { Slice } from '../../../../../src/core/model/view-items.ts';
import { createProcessCache } from '../../../../../src/app/reconcile/process/process-cache.ts';
import type { StoredInputs } from '../../../../../src/app/reconcile/read/stored-inputs.ts';
import { readView } from '../../../../../src/app/reconcile/read/read-view.ts';
import type { ReadView } from '../../../../../src/app/reconcile/read/read-view.ts';
import { MemoryViewStore } from '../../../../support/memory-view-store.ts';
import { node, pod } from '../../../../support/core-fixtures.ts';
import { metaOf, stampAt } from '../../../../support/store-suite.ts';

import assert from 'node:assert/strict';

const CLUSTER = clusterUid('c');
const DAEMON_SET = uid('ds');
const PODS = `pods/${DAEMON_SET}` as const;

/** A table that notes which slices are looked into. */
class CountingStore extends MemoryViewStore {
  readonly decoded: string[] = [];

  override async readSlice(...[ref]: Parameters<MemoryViewStore['readSlice']>) {
    const slice = await super.readSlice(ref);
    if (slice === undefined) return undefined;
    const { decoded } = this;
    return {
      ...slice,
      get objects() {
        decoded.push(`${ref.set}#${String(ref.index)}`);
        return slice.objects;
      },
    };
  }
}

async function write(
  view: MemoryViewStore,
  slice: { readonly set: 'nodes' | typeof PODS; readonly index: number; readonly at: Stamp },
  objects: readonly Projection[],
): Promise<void> {
  const { set, index, at } = slice;
  const ref = { clusterUid: CLUSTER, set, index };
  const former = await view.readSlice(ref);
  const content: Slice = { stamp: at, objects: objects.map((object) => ({ object, hash: 1 })) };
  assert.equal(await view.writeSlice(ref, content, former?.stamp), 'written');
}

async function prepared(sliceCount = 2): Promise<CountingStore> {
  const view = new CountingStore();
  await write(view, { set: 'nodes', index: 0, at: stampAt(1) }, [node('n1')]);
  await write(view, { set: 'nodes', index: 1, at: stampAt(1) }, [node('n2')]);
  await write(view, { set: PODS, index: 0, at: stampAt(1) }, [pod('n1')]);
  await write(view, { set: PODS, index: 1, at: stampAt(1) }, [pod('n2')]);
  for (let index = 2; index < sliceCount; index += 1) {
    await write(view, { set: 'nodes', index, at: stampAt(1) }, []);
    await write(view, { set: PODS, index, at: stampAt(1) }, []);
  }
  sliceCounts.set(view, sliceCount);
  const revisions = { clusterUid: CLUSTER, set: `revisions/${DAEMON_SET}`, index: 0 } as const;
  await view.writeSlice(revisions, { stamp: stampAt(1), objects: [] }, undefined);
  return view;
}

const sliceCounts = new WeakMap<object, number>();

/** Of a position at which the pods last changed then. */
function basisAt(podsChanged: Stamp, sliceCount = 2): StoredInputs {
  return {
    meta: { ...metaOf(CLUSTER), seq: 9, sliceCount, nodesChanged: stampAt(1) },
    ref: { clusterUid: CLUSTER, uid: DAEMON_SET },
    daemonSet: { stamp: ZERO_STAMP, object: null },
    position: { podsChanged, revisionsChanged: stampAt(1) },
    state: undefined,
    registration: undefined as never, // nothing here asks for it
  };
}

async function readAt(
  podsChanged: Stamp,
  readers: Parameters<typeof readView>[1],
): Promise<ReadView> {
  const stored = basisAt(podsChanged, sliceCounts.get(readers.view));
  await (readers.view as CountingStore).raisePosition(stored.ref, stored.position);
  const read = await readView(stored, readers);
  assert.equal(read.kind, 'read', JSON.stringify(read));
  return read.kind === 'read' ? read.view : assert.fail();
}

describe('slices in a warm process', () => {
  it('are decoded once for each stamp, and give the very objects again', async () => {
    const view = await prepared();
    const readers = { view, cache: createProcessCache() };
    const before = await readAt(stampAt(1), readers);
    assert.equal(view.decoded.length, 5);
    view.decoded.length = 0;
    await write(view, { set: PODS, index: 1, at: stampAt(2) }, [pod('n2', { isReady: false })]);
    view.decoded.length = 0;
    const after = await readAt(stampAt(2), readers);
    assert.deepEqual(view.decoded, [`${PODS}#1`]);
    assert.equal(after.pods[0], before.pods[0]);
    assert.equal(after.pods[1]?.isReady, false);
    assert.equal(
      after.nodes,
      before.nodes,
      'what is remembered by the list of nodes is found again',
    );
  });

  it('are read by their stamps first, where few of them changed the last time', async () => {
    const view = await prepared(8);
    const readers = { view, cache: createProcessCache() };
    const read: Record<string, number> = {};
    for (const seq of [2, 3, 4]) {
      await write(view, { set: PODS, index: 1, at: stampAt(seq) }, [pod(`n${String(seq)}`)]);
      view.calls.length = 0;
      const { pods } = await readAt(stampAt(seq), readers);
      assert.deepEqual(
        pods.map(({ name }) => name).filter((name) => name === pod(`n${String(seq)}`).name).length,
        1,
      );
      const slices = view.calls.filter(({ target }) => target.includes(PODS));
      read[seq] = slices.filter(({ operation }) => operation === 'readSlice').length;
    }
    assert.deepEqual(
      read,
      { 2: 8, 3: 8, 4: 1 },
      'nothing is known; then nothing of how much moves',
    );
  });

  it('are moving by their stamps alone', async () => {
    const view = await prepared(8);
    const readers = { view, cache: createProcessCache() };
    for (const seq of [2, 3]) {
      await write(view, { set: PODS, index: 1, at: stampAt(seq) }, [pod('n2')]);
      await readAt(stampAt(seq), readers);
    }
    await write(view, { set: PODS, index: 1, at: stampAt(5) }, []);
    view.calls.length = 0;
    assert.equal((await readView(basisAt(stampAt(4), 8), readers)).kind, 'moving');
    const asked = view.calls.filter(({ target }) => target.includes(PODS));
    assert.ok(asked.every(({ operation }) => operation === 'readSliceStamps'));
  });

  it('are not decoded while one of their set is ahead of the position', async () => {
    const view = await prepared();
    await write(view, { set: PODS, index: 1, at: stampAt(2) }, []);
    view.decoded.length = 0;
    const stored = basisAt(stampAt(1));
    const read = await readView(stored, { view, cache: createProcessCache() });
    assert.equal(read.kind, 'moving');
    assert.ok(!view.decoded.some((slice) => slice.startsWith('pods/')), view.decoded.join());
  });
});
