/**
 * Deletes what the view holds of a cluster that is no longer registered: a cache that nobody will read.
 *
 * The view is broken first: should the cluster be registered again, nothing that was left is believed, and
 * a snapshot rebuilds the rest. A crash leaves items that do no harm; a repeat goes on. META itself stays,
 * incomplete: its counters are what makes a later snapshot believed.
 */
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { NameItem } from '../../core/model/view-items.ts';
import type { SlicedSet, ViewStore } from '../../ports/stores/view-store.ts';
import { namePages } from './read-registry.ts';
import { breakView } from './change-stored.ts';

export type ForgettableView = Pick<
  ViewStore,
  | 'readMeta'
  | 'writeMeta'
  | 'listNames'
  | 'readSlice'
  | 'removeSlice'
  | 'removeDaemonSet'
  | 'removeName'
>;

const NAMES_PER_PAGE = 100;
/** Sets have 1, 4 or 16 slices (design 4); a set may still have those of a larger count before. */
const SLICES_MAX = 16;

/** Deletes the items of a cluster; of how many DaemonSets. Rejects when the table fails. */
export async function forgetView(view: ForgettableView, clusterUid: ClusterUid): Promise<number> {
  const meta = await view.readMeta(clusterUid);
  if (meta === undefined) return 0;
  await breakView(view, clusterUid, 'the cluster was removed');
  const sliceCount = Math.max(SLICES_MAX, meta.sliceCount);
  let daemonSets = 0;
  const pages = namePages(view, clusterUid, { limit: NAMES_PER_PAGE, includeDeleted: true });
  for await (const names of pages) {
    for (const item of names) {
      daemonSets += await forgetName({ view, clusterUid, sliceCount }, item);
    }
  }
  await forgetSlices({ view, clusterUid, sliceCount }, 'nodes');
  return daemonSets;
}

interface Forgetting {
  readonly view: ForgettableView;
  readonly clusterUid: ClusterUid;
  readonly sliceCount: number;
}

async function forgetName(forgetting: Forgetting, item: NameItem): Promise<number> {
  const { view, clusterUid } = forgetting;
  const uids = [...(item.formerUids ?? []), ...(item.uid === null ? [] : [item.uid])];
  for (const uid of uids) {
    await forgetSlices(forgetting, `pods/${uid}`);
    await forgetSlices(forgetting, `revisions/${uid}`);
    await view.removeDaemonSet({ clusterUid, uid });
  }
  await view.removeName(clusterUid, item);
  return uids.length;
}

async function forgetSlices(
  { view, clusterUid, sliceCount }: Forgetting,
  set: SlicedSet,
): Promise<void> {
  const removals = Array.from({ length: sliceCount }, async (_, index) => {
    const ref = { clusterUid, set, index };
    const slice = await view.readSlice(ref);
    if (slice !== undefined) await view.removeSlice(ref, slice.stamp);
  });
  await Promise.all(removals);
}
