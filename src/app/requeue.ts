/**
 * `requeue`: forwards due timers from the delay queue to reconcile.fifo (design 3, protocol 12).
 *
 * A timer that is not due yet hops: SQS delays 900 s at most. Each is forwarded under an id of its
 * own, so that no deduplication can swallow it; a redelivered timer repeats its id and is harmless.
 */
import { DUE_TOLERANCE_MS } from '../core/model/hint.ts';
import type { Timer } from '../core/model/hint.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { HintQueue } from '../ports/queue.ts';

/** What `requeueTimers` needs. */
export interface RequeueDependencies {
  readonly queue: HintQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What came of one timer. A failed one must be redelivered. */
export type RequeueOutcome =
  { readonly kind: 'forwarded' | 'hopped' } | { readonly kind: 'failed'; readonly cause: unknown };

/** One outcome per timer, in their order; one failing send does not hold the others. */
export async function requeueTimers(
  timers: readonly Timer[],
  dependencies: RequeueDependencies,
): Promise<readonly RequeueOutcome[]> {
  return Promise.all(timers.map((timer) => requeueTimer(timer, dependencies)));
}

async function requeueTimer(
  timer: Timer,
  dependencies: RequeueDependencies,
): Promise<RequeueOutcome> {
  const { queue, clock, log, metrics } = dependencies;
  const isDue = clock.nowMs() >= timer.dueAtMs - DUE_TOLERANCE_MS;
  try {
    if (isDue) {
      await queue.sendHints([{ ...timer.hint, reason: 'due' }], `timer/${timer.timerId}`);
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
