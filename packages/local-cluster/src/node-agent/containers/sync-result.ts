/**
 * Gathers what one SyncPod comes to: why containers wait, what failed, when to look again.
 *
 * A container in back-off waits without being a failure, as in the kubelet; the earliest end of a back-off counts.
 */
import type { PodSyncResult, WaitingReason } from '../shared/pod-runtime.ts';
import type { StartOutcome } from './lifecycle/start-container.ts';

/** A PodSyncResult in the making. */
export interface SyncResultBuilder {
  /** The outcome of starting a container. */
  add(containerName: string, outcome: StartOutcome): void;
  fail(action: string, message: string): void;
  build(): PodSyncResult;
}

/** Makes an empty result. */
export function createSyncResult(): SyncResultBuilder {
  const waiting = new Map<string, WaitingReason>();
  const failures: { readonly action: string; readonly message: string }[] = [];
  let retryAfterMs: number | undefined;
  return {
    add: (containerName, outcome) => {
      if (outcome.kind !== 'waits') return;
      waiting.set(containerName, outcome.waiting);
      if (outcome.retryAfterMs !== undefined) {
        retryAfterMs = Math.min(retryAfterMs ?? outcome.retryAfterMs, outcome.retryAfterMs);
      }
      if (outcome.isBackOff) return;
      const { reason, message = '' } = outcome.waiting;
      failures.push({
        action: 'StartContainer',
        message: `failed to "StartContainer" for "${containerName}" with ${reason}: ${JSON.stringify(message)}`,
      });
    },
    fail: (action, message) => {
      failures.push({ action, message });
    },
    build: () => ({
      waiting,
      failures,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) }),
    }),
  };
}
