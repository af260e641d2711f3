/** How a key waits for its cluster's breaker: by the code of its back-off (protocol 11, 12). */
import type { DaemonSetState, RetryEntry } from '../../../core/model/state.ts';

/** The deferral of a run that its cluster's breaker refused. */
export const BREAKER_OPEN = 'breaker-open';

/** When a key that waits for its cluster's breaker looks again, if it does (protocol 11, 12). */
export function breakerWaitOf(
  state: Pick<DaemonSetState, 'retry'> | undefined,
  nowMs: number,
): RetryEntry | undefined {
  const retry = state?.retry;
  return retry?.code === BREAKER_OPEN && retry.notBeforeMs > nowMs ? retry : undefined;
}
