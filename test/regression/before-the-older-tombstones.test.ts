/**
 * The release before older tombstones had an item of their own, beside it and gone back to (ADR 0076).
 *
 * Its own stores, out of git history, over what the present ones wrote; without history it is skipped.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, nodeName, uid } from '../../src/core/model/identifiers.ts';
import type { Tombstone } from '../../src/core/model/projections.ts';
import type { SliceRef } from '../../src/ports/stores/view-store.ts';
import { useFormerViewStore } from '../support/former-view-store.ts';
import { missingPrevious } from '../support/previous-sources.ts';
import { freshName, sliceOf, stampAt } from '../support/store-suite.ts';

/** The last commit that had all tombstones in their slice. */
const BEFORE = 'bb50c60a';

const skip = missingPrevious(BEFORE) ?? false;

const named = (name: string): Tombstone => ({
  name,
  uid: uid(name),
  node: nodeName('n1'),
  createdAtMs: 1,
  goneAtMs: 2,
});

describe('the commit before older tombstones', { skip }, () => {
  const stores = useFormerViewStore(BEFORE);
  const cluster = clusterUid(freshName('older'));
  const refs = [0, 1].map((index): SliceRef => ({ clusterUid: cluster, set: 'pods/u1', index }));
  const older = { version: 1, goneAtMs: 2 };

  it('wrote slices that are read to the same meaning: all their tombstones are in them', async () => {
    for (const ref of refs) {
      const slice = { ...sliceOf(stampAt(1), 1), gone: [named('p1'), named('p2')] };
      assert.equal(await stores.former.writeSlice(ref, slice, undefined), 'written');
      assert.deepEqual(await stores.present.readSlice(ref), slice);
    }
  });

  it('reads what stands in a slice, and not what moved', async () => {
    for (const ref of refs) {
      await stores.present.writeOlderTombstones(ref, {
        version: 0,
        gone: [named('p1'), named('p2')],
      });
      const slice = { ...sliceOf(stampAt(2), 1), gone: [named('p3')], older };
      assert.equal(await stores.present.writeSlice(ref, slice, stampAt(1)), 'written');
      const { gone, objects } = (await stores.former.readSlice(ref)) ?? {};
      assert.deepEqual([gone, objects], [slice.gone, slice.objects]);
    }
  });

  it('loses nothing of that for the present one, alone or with other slices, until that moves again', async () => {
    const next = { ...sliceOf(stampAt(3), 1), gone: [named('p4'), named('p3')] };
    const [first, second] = refs;
    assert.ok(first !== undefined && second !== undefined);
    const written = await Promise.all(
      refs.map((ref) => stores.former.writeSlice(ref, next, stampAt(2))),
    );
    assert.deepEqual(written, ['written', 'written']);
    for (const ref of refs) {
      const seen = await stores.present.readSlice(ref);
      assert.deepEqual([seen?.stamp, seen?.gone], [next.stamp, next.gone]);
      // An update leaves the reference, a put drops it: the item stands, and the next move adds to it.
      assert.ok(seen?.older === undefined || seen.older.version === older.version);
      const item = await stores.present.readOlderTombstones(ref);
      assert.deepEqual(item, { version: 1, gone: [named('p1'), named('p2')] });
    }
  });
});
