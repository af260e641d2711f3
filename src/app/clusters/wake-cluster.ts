/**
 * Makes Rollcall look at every DaemonSet of a cluster now, after a change that no watcher reports.
 *
 * Lifting a freeze changes nothing in the cluster, and a key that ran while it was frozen waits for its
 * next event or for resync, up to six hours. A hint for each key ends that wait. Hints are harmless:
 * whatever is sent twice is looked at twice.
 */
import { hintFor } from '../../core/model/hint.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { namePages } from './read-registry.ts';

interface WakeDependencies {
  readonly view: Pick<ViewStore, 'listNames'>;
  readonly hints: Pick<HintQueue, 'sendHints'>;
  readonly random: Random;
}

/** Sends the hints; how many. Rejects when a table or the queue fails. */
export async function wakeCluster(
  cluster: Pick<ClusterRegistration, 'id' | 'clusterUid'>,
  { view, hints, random }: WakeDependencies,
): Promise<number> {
  const prefix = `manual/${random.uniqueId()}/`;
  let count = 0;
  for await (const names of namePages(view, cluster.clusterUid)) {
    const found = names.map((name) => hintFor(cluster, name, 'manual'));
    if (found.length > 0) await hints.sendHints(found, prefix);
    count += found.length;
  }
  return count;
}
