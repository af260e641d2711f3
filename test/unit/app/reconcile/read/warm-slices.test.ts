/** A set that changed by one slice: a warm process decodes that one, and takes the others as it has them. */
import { describe, it } from 'node:test';
import { clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, type Stamp } from '../../../../../src/core/model/position.ts';
import type { Projection } from '../../../../../src/core/model/projections.ts';
import type { Slice } from '../../../../../src/core/model/view-items.ts';
import { createProcessCache } from '../../../../../src/app/reconcile/process/process-cache.ts';
import type { StoredInputs } from '../../../../../src/app/reconcile/read/stored-inputs.ts';
import { readView, type ReadView } from '../../../../../src/app/reconcile/read/read-view.ts';
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

async function prepared(): Promise<CountingStore> {
  const view = new CountingStore();
  await write(view, { set: 'nodes', index: 0, at: stampAt(1) }, [node('n1')]);
  await write(view, { set: 'nodes', index: 1, at: stampAt(1) }, [node('n2')]);
  await write(view, { set: PODS, index: 0, at: stampAt(1) }, [pod('n1')]);
  await write(view, { set: PODS, index: 1, at: stampAt(1) }, [pod('n2')]);
  const revisions = { clusterUid: CLUSTER, set: `revisions/${DAEMON_SET}`, index: 0 } as const;
  await view.writeSlice(revisions, { stamp: stampAt(1), objects: [] }, undefined);
  return view;
}

/** Of a position at which the pods last changed then. */
function basisAt(podsChanged: Stamp): StoredInputs {
  return {
    meta: { ...metaOf(CLUSTER), seq: 9, sliceCount: 2, nodesChanged: stampAt(1) },
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
  const stored = basisAt(podsChanged);
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
