/**
 * `requeue`: forwards due timers from the delay queue to reconcile.fifo (design 3, protocol 12).
 *
 * A timer that is not due yet hops: SQS delays 900 s at most. Each is forwarded under an id of its
 * own, so that no deduplication can swallow it; a redelivered timer repeats its id and is harmless.
 * Timers of a cluster that is slow, or does not answer, go through its lanes: each sent by itself, they
 * would otherwise fill the room for all clusters (L3, row 61). That is read when they are due, once for each
 * cluster of a batch; what cannot be read counts as a cluster in health, since a late wake-up is worse.
 */
import { isSuspect } from '../../core/model/breaker.ts';
import { DUE_TOLERANCE_MS, type Timer } from '../../core/model/hint.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { BreakerStore } from '../../ports/stores/view-store.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { HintPace, HintQueue } from '../../ports/queues/queue.ts';

export interface RequeueDependencies extends Omit<ProcessPorts, 'random'> {
  readonly queue: HintQueue;
  readonly view: Pick<BreakerStore, 'readBreaker'>;
}

/** What came of one timer. A failed one must be redelivered. */
type RequeueOutcome =
  { readonly kind: 'forwarded' | 'hopped' } | { readonly kind: 'failed'; readonly cause: unknown };

/** One outcome per timer, in their order; one failing send does not hold the others. */
export async function requeueTimers(
  timers: readonly Timer[],
  dependencies: RequeueDependencies,
): Promise<readonly RequeueOutcome[]> {
  const paces = new Map<ClusterUid, Promise<HintPace>>();
  const paceOf = (cluster: ClusterUid): Promise<HintPace> => {
    const known = paces.get(cluster) ?? readPace(cluster, dependencies);
    paces.set(cluster, known);
    return known;
  };
  return Promise.all(timers.map((timer) => requeueTimer(timer, paceOf, dependencies)));
}

/** How many runs of the cluster may be started side by side. Never rejects. */
async function readPace(
  cluster: ClusterUid,
  { view, clock, log, metrics }: RequeueDependencies,
): Promise<HintPace> {
  try {
    return isSuspect(await view.readBreaker(cluster), clock.nowMs()) ? 'suspect' : 'usual';
  } catch (cause) {
    metrics.count('RequeueTimers', { outcome: 'unpaced' });
    log.warn('breaker could not be read; timers go on as usual', { clusterUid: cluster }, cause);
    return 'usual';
  }
}

async function requeueTimer(
  timer: Timer,
  paceOf: (cluster: ClusterUid) => Promise<HintPace>,
  dependencies: RequeueDependencies,
): Promise<RequeueOutcome> {
  const { queue, clock, log, metrics } = dependencies;
  const { hint, timerId } = timer;
  const isDue = clock.nowMs() >= timer.dueAtMs - DUE_TOLERANCE_MS;
  try {
    if (isDue) {
      const pace = await paceOf(hint.clusterUid);
      await queue.sendHints([{ ...hint, reason: 'due' }], `timer/${timerId}`, pace);
    } else {
      await queue.sendTimers([{ ...timer, hops: timer.hops + 1 }]);
    }
  } catch (cause) {
    metrics.count('RequeueTimers', { outcome: 'failed' });
    log.warn('timer could not be sent on', { timerId: timer.timerId, hops: timer.hops }, cause);
    return { kind: 'failed', cause };
  }
  const kind = isDue ? 'forwarded' : 'hopped';
  metrics.count('RequeueTimers', { outcome: kind });
  return { kind };
}
