/**
 * Deletes the view of a cluster that is no longer registered: no reader is left.
 *
 * The view is broken first: should the cluster be registered again, nothing that was left is believed, and
 * a snapshot rebuilds the rest. A crash leaves items that do no harm; a repeat goes on. META itself stays,
 * incomplete: its counters are what makes a later snapshot believed.
 */
import { SLICE_COUNT_MAX, slicesOfDaemonSet } from '../../core/projections/set-hash.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { NameItem } from '../../core/model/view-items.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
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

/** Deletes the items of a cluster; of how many DaemonSets. Rejects when the table fails. */
export async function forgetView(view: ForgettableView, clusterUid: ClusterUid): Promise<number> {
  const meta = await view.readMeta(clusterUid);
  if (meta === undefined) return 0;
  await breakView(view, clusterUid, 'the cluster was removed');
  let daemonSets = 0;
  const pages = namePages(view, clusterUid, { includeDeleted: true });
  for await (const names of pages) {
    for (const item of names) {
      daemonSets += await forgetName({ view, clusterUid }, item);
    }
  }
  const nodes = Array.from(
    { length: SLICE_COUNT_MAX },
    (_, index) => ({ set: 'nodes', index }) as const,
  );
  await forgetSlices({ view, clusterUid }, nodes);
  return daemonSets;
}

interface Forgetting {
  readonly view: ForgettableView;
  readonly clusterUid: ClusterUid;
}

async function forgetName(forgetting: Forgetting, item: NameItem): Promise<number> {
  const { view, clusterUid } = forgetting;
  const uids = [...(item.formerUids ?? []), ...(item.uid === null ? [] : [item.uid])];
  for (const uid of uids) {
    // Also those of a larger count before.
    await forgetSlices(forgetting, slicesOfDaemonSet(uid, SLICE_COUNT_MAX));
    await view.removeDaemonSet({ clusterUid, uid });
  }
  await view.removeName(clusterUid, item);
  return uids.length;
}

async function forgetSlices(
  { view, clusterUid }: Forgetting,
  slices: ReturnType<typeof slicesOfDaemonSet>,
): Promise<void> {
  const removals = slices.map(async (each) => {
    const ref = { clusterUid, ...each };
    const slice = await view.readSlice(ref);
    if (slice !== undefined) await view.removeSlice(ref, slice.stamp);
  });
  await Promise.all(removals);
}
