/** What is left of a cluster's view when the cluster leaves: nothing, whatever its DaemonSets were before. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forgetView } from '../../../../src/app/clusters/forget-view.ts';
import { clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { metaOf, sliceOf, stampAt } from '../../../support/store-suite.ts';

const UID = clusterUid('gone');

describe('forgetView', () => {
  it('forgets slices and state of a DaemonSet, of those before it under its name, and of deleted names', async () => {
    const view = new MemoryViewStore();
    await view.writeMeta({ ...metaOf(UID), clusterUid: UID });
    const stamp = stampAt(1);
    const former = [uid('first'), uid('second')];
    await view.writeName(UID, {
      namespace: 'infra',
      name: 'agent',
      uid: uid('third'),
      formerUids: former,
      stamp,
    });
    const deleted = { namespace: 'infra', name: 'gone', uid: null, formerUids: [uid('fourth')] };
    await view.writeName(UID, { ...deleted, stamp });
    const uids = [...former, uid('third'), uid('fourth')];
    for (const one of uids) {
      await view.writeState({ clusterUid: UID, uid: one }, emptyState(0));
      for (const set of [`pods/${one}`, `revisions/${one}`] as const) {
        await view.writeSlice({ clusterUid: UID, set, index: 0 }, sliceOf(stamp, 1), undefined);
      }
    }
    assert.deepEqual(await forgetView(view, UID), uids.length);
    for (const one of uids) {
      assert.equal(await view.readState({ clusterUid: UID, uid: one }), undefined, one);
      for (const set of [`pods/${one}`, `revisions/${one}`] as const) {
        assert.equal(await view.readSlice({ clusterUid: UID, set, index: 0 }), undefined, set);
      }
    }
  });
});
