/**
 * The release before slices by columns, beside them and gone back to (ADR 0069): its own stores over what the present ones wrote.
 *
 * They come out of git history; without it there is nothing to ask, and it is skipped.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../src/core/model/identifiers.ts';
import type { SliceRef } from '../../src/ports/stores/view-store.ts';
import { useFormerViewStore } from '../support/former-view-store.ts';
import { missingPrevious } from '../support/previous-sources.ts';
import { freshName, metaOf, sliceOf, stampAt } from '../support/store-suite.ts';

/** The last commit that stored every slice as a list. */
const BEFORE = '4d52f2bd';

const skip = missingPrevious(BEFORE) ?? false;

describe('the commit before the columns', { skip }, () => {
  const stores = useFormerViewStore(BEFORE);
  const cluster = clusterUid(freshName('columns'));
  const ref: SliceRef = { clusterUid: cluster, set: 'nodes', index: 0 };

  it('stored slices and META that are read to the same meaning', async () => {
    await stores.former.writeSlice(ref, sliceOf(stampAt(1), 300), undefined);
    await stores.former.writeMeta(metaOf(cluster));
    assert.deepEqual(await stores.present.readSlice(ref), sliceOf(stampAt(1), 300));
    assert.deepEqual(await stores.present.readMeta(cluster), await stores.former.readMeta(cluster));
  });

  it('finds a view that is lost, without a snapshot that it could close, and asks for another', async () => {
    assert.equal(
      await stores.present.writeSlice(ref, sliceOf(stampAt(2), 300), stampAt(1)),
      'written',
    );
    const stored = await stores.present.readMeta(cluster);
    assert.ok(stored !== undefined);
    const meta = { ...stored, isComplete: true, brokenWhenComplete: stored.broken };
    assert.equal(await stores.present.writeMeta(meta), 'written');
    const seen = await stores.former.readMeta(cluster);
    assert.equal(seen?.isComplete, false);
    assert.equal(seen.snapshot, undefined);
    assert.notEqual(seen.broken, seen.brokenWhenComplete, 'its snapshot writes every slice anew');
    assert.deepEqual((await stores.former.readSlice(ref))?.objects, []);
    assert.equal((await stores.present.readMeta(cluster))?.isComplete, true);
  });

  it('heals it by a snapshot of its own, which the present one reads: what it left of columns is stale', async () => {
    assert.equal(
      await stores.former.writeSlice(ref, sliceOf(stampAt(3), 200), stampAt(2)),
      'written',
    );
    const lost = await stores.former.readMeta(cluster);
    assert.ok(lost !== undefined);
    const closed = { ...lost, isComplete: true, brokenWhenComplete: lost.broken };
    assert.equal(await stores.former.writeMeta(closed), 'written');
    assert.deepEqual(await stores.present.readSlice(ref), sliceOf(stampAt(3), 200));
    const { isComplete, broken, brokenWhenComplete } =
      (await stores.present.readMeta(cluster)) ?? {};
    assert.deepEqual([isComplete, broken], [true, brokenWhenComplete]);
  });
});
