/**
 * DaemonSets that stood under a name before: what they left is removed, and the list of them bounded.
 *
 * A sweep removes what they left one epoch later (protocol 18). A name that is used again all the time,
 * as tests and operators do, would fill its item meanwhile, until the table refuses it and its cluster
 * waits for hours (A.7). So beyond a hundred the oldest are removed at once, some at a time: what wrote
 * them was overtaken a hundred times. Items first, then the name: a crash in between is repeated.
 */
import { SLICE_COUNT_MAX, slicesOfDaemonSet } from '../../../core/projections/set-hash.ts';
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { NameItem } from '../../../core/model/view-items.ts';
import {
  TOMBSTONE_KEPT_MS,
  tombstonesOfAnswered,
  areOlderNeeded,
} from '../../../core/pod/tombstones.ts';
import type { NamespacedName, SliceRef } from '../../../ports/stores/view-store.ts';
import { keepLogOfGone } from '../../log/flush-log.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';

/** So many former DaemonSets a name remembers. */
export const FORMER_UIDS_MAX = 100;
/** At most so many are removed with one change of a name: a message has seconds. */
const FORGOTTEN_MAX = 10;

/** A name whose list is bounded, and the DaemonSets that fell out of it, oldest first. */
export function boundFormer(item: NameItem): {
  readonly item: NameItem;
  readonly forgotten: readonly Uid[];
} {
  const former = item.formerUids ?? [];
  const excess = Math.min(FORGOTTEN_MAX, Math.max(0, former.length - FORMER_UIDS_MAX));
  if (excess === 0) return { item, forgotten: [] };
  return {
    item: { ...item, formerUids: former.slice(excess) },
    forgotten: former.slice(0, excess),
  };
}

/**
 * True while a slice of one of them remembers a pod that went within ten minutes, or its state one that was made within
 * them and that no view ever showed: an etcd that is restored may bring that DaemonSet back, and with it the names of its
 * pods (S13).
 */
export async function hasFreshTombstones(
  clusterUid: ClusterUid,
  uids: readonly Uid[],
  context: { readonly nowMs: number; readonly dependencies: IngestDependencies },
): Promise<boolean> {
  const { nowMs, dependencies } = context;
  const { view, options, log } = dependencies;
  const isFresh = (atMs: number): boolean => nowMs - atMs <= TOMBSTONE_KEPT_MS;
  const refs = uids.flatMap((uid) =>
    Array.from({ length: SLICE_COUNT_MAX }, (_, index): SliceRef => {
      return { clusterUid, set: `pods/${uid}`, index };
    }),
  );
  const found = await sideBySide(refs, options.concurrencyMax, async (ref) => {
    const { gone = [], older } = (await view.readSlice(ref)) ?? {};
    return areOlderNeeded(older, nowMs) || gone.some(({ goneAtMs }) => isFresh(goneAtMs));
  });
  if (found.includes(true)) return true;
  const known = await sideBySide(uids, options.concurrencyMax, async (uid) => {
    // One of a later release would hold up the view of its whole cluster, for names that may never come again.
    const state = await view.readState({ clusterUid, uid }).catch((cause: unknown) => {
      log.warn(
        'the state of a DaemonSet that went is unreadable',
        { cluster: clusterUid, uid },
        cause,
      );
      return undefined;
    });
    const { buried = [], intents = [] } = state ?? {};
    // When an unseen pod went is unknown; it was made at the time of its create.
    const made = tombstonesOfAnswered(intents, 0).some(({ createdAtMs }) => isFresh(createdAtMs));
    return made || buried.some(({ goneAtMs }) => isFresh(goneAtMs));
  });
  return known.includes(true);
}

/** Removes all that DaemonSets of a name left: slices, position, object, state; what the state tells of them is kept. */
export async function removeFormerDaemonSets(
  { clusterUid, ...name }: NamespacedName & { readonly clusterUid: ClusterUid },
  uids: readonly Uid[],
  dependencies: IngestDependencies,
): Promise<void> {
  const { view, processCache, options } = dependencies;
  const slices = uids.flatMap((uid) => slicesOfDaemonSet(uid, SLICE_COUNT_MAX));
  const refs = slices.map((slice) => ({ clusterUid, ...slice }));
  await sideBySide(refs, options.concurrencyMax, async (ref) => {
    const slice = await view.readSlice(ref);
    if (slice !== undefined) await view.removeSlice(ref, slice.stamp);
    processCache.keepSlice(ref, undefined);
    processCache.keepOlder(ref, undefined);
  });
  await sideBySide(uids, options.concurrencyMax, async (uid) => {
    await keepLogOfGone({ clusterUid, uid }, name, dependencies);
    await view.removeDaemonSet({ clusterUid, uid });
  });
}
