/**
 * Makes Rollcall look at every DaemonSet of a cluster now, after a change that no watcher reports.
 *
 * Lifting a freeze changes nothing in the cluster, and a key that ran while it was frozen waits for its
 * next event or for resync, up to six hours. A hint for each key ends that wait. Hints are harmless:
 * whatever is sent twice is looked at twice.
 */
import { HINT_SCHEMA } from '../../core/model/hint.ts';
import type { Hint } from '../../core/model/hint.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { HintQueue } from '../../ports/queue.ts';
import type { Random } from '../../ports/random.ts';
import type { ViewStore } from '../../ports/view-store.ts';

/** What waking needs. */
export interface WakeDependencies {
  readonly view: Pick<ViewStore, 'listNames'>;
  readonly hints: Pick<HintQueue, 'sendHints'>;
  readonly random: Random;
}

const NAMES_PER_PAGE = 200;

/** Sends the hints; how many. Rejects when a table or the queue fails. */
export async function wakeCluster(
  { id: cluster, clusterUid }: Pick<ClusterRegistration, 'id' | 'clusterUid'>,
  { view, hints, random }: WakeDependencies,
): Promise<number> {
  const prefix = `manual/${random.uniqueId()}/`;
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await view.listNames(clusterUid, {
      limit: NAMES_PER_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = page.names.map(({ namespace, name }): Hint => ({
      schema: HINT_SCHEMA,
      key: { cluster, namespace, name },
      clusterUid,
      reason: 'manual',
    }));
    if (found.length > 0) await hints.sendHints(found, prefix);
    count += found.length;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return count;
}
