/**
 * Reads what was counted of a cluster: META, its names, the state of each DaemonSet. Nothing else, and nothing is written.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { messagesCounted, runsCounted } from '../../core/cost/counted.ts';
import type { ClusterCounts } from '../../core/cost/month.ts';
import type { ClusterUid, Uid } from '../../core/model/identifiers.ts';
import { namePages } from '../clusters/read-registry.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { StateStore, ViewReader } from '../../ports/stores/view-store.ts';

export interface ReadCounts extends ClusterCounts {
  /** When something of it was counted last; absent: never. */
  readonly lastAtMs?: number;
  /** Why items could not be read; their counts are missing. */
  readonly unreadable: readonly string[];
}

type CountsReader = Pick<ViewReader, 'readMeta' | 'listNames'> & Pick<StateStore, 'readState'>;

const AT_ONCE = 16;
const PAGE = 500;

/** Reads them. Rejects when the table does not answer. */
export async function readCounts(
  clusterUid: ClusterUid,
  { view, nowMs }: { readonly view: CountsReader; readonly nowMs: number },
): Promise<ReadCounts> {
  const unreadable: string[] = [];
  const readable = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    const found = await orUnreadable(read);
    if (found.kind === 'read') return found.value;
    unreadable.push(found.problem);
    return undefined;
  };
  const meta = await readable(() => view.readMeta(clusterUid));
  const uids: Uid[] = [];
  for await (const names of namePages(view, clusterUid, { limit: PAGE })) {
    uids.push(...names.flatMap(({ uid }) => (uid === null ? [] : [uid])));
  }
  const states = await sideBySide(uids, AT_ONCE, (uid) =>
    readable(() => view.readState({ clusterUid, uid })),
  );
  const messages = messagesCounted(meta?.days, nowMs);
  const runs = states.flatMap((state) => runsCounted(state?.days, nowMs) ?? []);
  const last = Math.max(0, ...[messages, ...runs].map((each) => each?.lastAtMs ?? 0));
  return {
    ...{ messages, runs, daemonSets: uids.length, unreadable },
    ...(last === 0 ? {} : { lastAtMs: last }),
  };
}
