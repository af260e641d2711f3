/** What every implementation of the view store must do with slices, and with the older tombstones beside them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterUid, nodeName, uid } from '../../src/core/model/identifiers.ts';
import type { SliceRef, ViewStore } from '../../src/ports/stores/view-store.ts';
import { freshName, sliceOf, stampAt } from './store-suite.ts';

/** Tests of the slices of a view store; call inside a describe block. */
export function testSliceStore(store: () => ViewStore): void {
  testSlices(store);
  testTombstones(store);
}

function testSlices(store: () => ViewStore): void {
  it('writes a slice only over the stamp that was read (row 79)', async () => {
    const cluster = clusterUid(freshName('slices'));
    for (const set of ['nodes', 'pods/u1', 'revisions/u1'] as const) {
      const ref: SliceRef = { clusterUid: cluster, set, index: 0 };
      assert.equal(await store().readSlice(ref), undefined);
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(1), 0), stampAt(9)), 'lost');
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(1), 0), undefined), 'written');
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(2), 3), undefined), 'lost');
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(2), 300), stampAt(1)), 'written');
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(3), 0), stampAt(1)), 'lost');
      assert.deepEqual(await store().readSlice(ref), sliceOf(stampAt(2), 300));
      // Large ones are stored otherwise than small ones (ADR 0076): each takes the other's place.
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(3), 3), stampAt(2)), 'written');
      assert.deepEqual(await store().readSlice(ref), sliceOf(stampAt(3), 3));
      assert.equal(await store().writeSlice(ref, sliceOf(stampAt(4), 64), stampAt(3)), 'written');
      assert.deepEqual(await store().readSlice(ref), sliceOf(stampAt(4), 64));
    }
    const other: SliceRef = { clusterUid: cluster, set: 'nodes', index: 1 };
    assert.equal(await store().readSlice(other), undefined, 'slices are apart by index');
  });

  it('removes a slice only at the stamp that was read; a missing one is gone', async () => {
    const cluster = clusterUid(freshName('slices'));
    const ref: SliceRef = { clusterUid: cluster, set: 'pods/u1', index: 3 };
    await store().writeSlice(ref, sliceOf(stampAt(2), 1), undefined);
    assert.equal(await store().removeSlice(ref, stampAt(1)), 'lost');
    assert.equal(await store().removeSlice(ref, stampAt(2)), 'written');
    assert.equal(await store().readSlice(ref), undefined);
    assert.equal(await store().removeSlice(ref, stampAt(2)), 'written');
  });
}

function testTombstones(store: () => ViewStore): void {
  it('keeps the tombstones of a slice beside its objects, as they were (S13)', async () => {
    const cluster = clusterUid(freshName('slices'));
    const ref: SliceRef = { clusterUid: cluster, set: 'pods/u1', index: 0 };
    const buried = { uid: uid('u'), node: nodeName('n1'), createdAtMs: 1, goneAtMs: 2 };
    const gone = [
      { name: 'with', revision: 'h1', ...buried },
      { name: 'without', ...buried },
    ];
    const slice = { ...sliceOf(stampAt(1), 1), gone };
    assert.equal(await store().writeSlice(ref, slice, undefined), 'written');
    assert.deepEqual(await store().readSlice(ref), slice);
    assert.equal(await store().writeSlice(ref, sliceOf(stampAt(2), 1), stampAt(1)), 'written');
    assert.deepEqual(await store().readSlice(ref), sliceOf(stampAt(2), 1));
  });

  it('keeps which older tombstones a slice has, and those in an item by version, as they were (S13)', async () => {
    const cluster = clusterUid(freshName('older'));
    const ref: SliceRef = { clusterUid: cluster, set: 'pods/u1', index: 0 };
    const slice = { ...sliceOf(stampAt(1), 1), older: { version: 1, goneAtMs: 2 } };
    assert.equal(await store().writeSlice(ref, slice, undefined), 'written');
    assert.deepEqual(await store().readSlice(ref), slice);
    assert.equal(await store().readOlderTombstones(ref), undefined);
    const buried = { uid: uid('u'), node: nodeName('n1'), createdAtMs: 1, goneAtMs: 2 };
    const gone = Array.from({ length: 50 }, (_, index) => ({ name: `p${index}`, ...buried }));
    const older = { version: 0, gone };
    assert.equal(await store().writeOlderTombstones(ref, older), 'written');
    assert.equal(await store().writeOlderTombstones(ref, older), 'lost', 'there is one');
    assert.deepEqual(await store().readOlderTombstones(ref), { version: 1, gone });
    const fewer = { version: 1, gone: gone.slice(1) };
    assert.equal(await store().writeOlderTombstones(ref, { ...fewer, version: 2 }), 'lost');
    assert.equal(await store().writeOlderTombstones(ref, fewer), 'written');
    assert.equal(await store().writeOlderTombstones(ref, fewer), 'lost', 'it moved on');
    assert.deepEqual(await store().readOlderTombstones(ref), { ...fewer, version: 2 });
    const { older: _older, ...without } = slice;
    const next = { ...without, stamp: stampAt(2) };
    assert.equal(await store().writeSlice(ref, next, stampAt(1)), 'written');
    assert.deepEqual(await store().readSlice(ref), next);
  });

  it('removes older tombstones with their slice, and with no other', async () => {
    const cluster = clusterUid(freshName('older'));
    const [ref, other] = [0, 1].map((index): SliceRef => ({
      clusterUid: cluster,
      set: 'pods/u1',
      index,
    }));
    assert.ok(ref !== undefined && other !== undefined);
    const buried = { name: 'p', uid: uid('u'), node: nodeName('n1'), createdAtMs: 1, goneAtMs: 2 };
    for (const each of [ref, other]) {
      await store().writeSlice(each, sliceOf(stampAt(1), 1), undefined);
      await store().writeOlderTombstones(each, { version: 0, gone: [buried] });
    }
    assert.equal(await store().removeSlice(ref, stampAt(9)), 'lost');
    assert.equal((await store().readOlderTombstones(ref))?.version, 1, 'the slice stands');
    assert.equal(await store().removeSlice(ref, stampAt(1)), 'written');
    assert.equal(await store().readOlderTombstones(ref), undefined);
    assert.equal((await store().readOlderTombstones(other))?.version, 1);
  });
}
