/**
 * Waits until nothing that Rollcall sent to a frozen cluster can still arrive there: the freeze stops every run at its
 * next batch (protocol 7).
 *
 *   freeze ── the last batch (≤ longest function time-out) ── its requests (≤ 2 × time-out) ──▶ silent
 *
 * Intents whose requests may live longer are waited for as well. Messages in a queue need no wait: who takes them reads
 * the freeze.
 */
import type { ClusterUid } from '../../core/model/identifiers.ts';
import { hasOpenRequest, requestLifeMs, resolvedAtMs } from '../../core/pod/request-life.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { namePages } from './read-registry.ts';

/** What waiting needs. */
export interface SilenceDependencies {
  readonly view: Pick<ViewStore, 'listNames' | 'readState'>;
  readonly clock: Clock;
  /** Per-request time-out of the functions; twice that is the life of a request. */
  readonly requestTimeoutMs: number;
  /** How long a function that is under way may still go on; 0 where none runs. */
  readonly functionMaxMs: number;
  /** For how long it is known already that nothing of ours was sent; default 0. */
  readonly quietForMs?: number;
  readonly onProgress?: (text: string) => void;
}

/** Runs that began before the freeze end; more rounds mean that one goes on. */
const INTENT_ROUNDS_MAX = 3;

/**
 * Waits. False when intents keep being recorded although everything is frozen. Without a cluster UID
 * there are no intents to look at, and the wait alone stands for them.
 */
export async function awaitSilence(
  clusterUid: ClusterUid | undefined,
  dependencies: SilenceDependencies,
): Promise<boolean> {
  const { clock, requestTimeoutMs, functionMaxMs, quietForMs = 0, onProgress } = dependencies;
  let waitMs = Math.max(0, functionMaxMs + requestLifeMs(requestTimeoutMs) - quietForMs);
  for (let round = 0; round < INTENT_ROUNDS_MAX; round += 1) {
    if (waitMs > 0) {
      onProgress?.(
        `waiting ${String(Math.ceil(waitMs / 1000))} s for requests that may be under way …`,
      );
      await clock.sleep(waitMs);
    }
    if (clusterUid === undefined) return true;
    waitMs = (await findLastDeath(clusterUid, dependencies)) - clock.nowMs();
    if (waitMs <= 0) return true;
  }
  return false;
}

/** When the last request without a known outcome is dead; 0: there is none. */
async function findLastDeath(
  clusterUid: ClusterUid,
  { view, requestTimeoutMs }: SilenceDependencies,
): Promise<number> {
  let lastMs = 0;
  for await (const names of namePages(view, clusterUid)) {
    for (const { uid } of names) {
      const state = uid === null ? undefined : await view.readState({ clusterUid, uid });
      for (const intent of state?.intents ?? []) {
        if (!hasOpenRequest(intent)) continue;
        lastMs = Math.max(lastMs, resolvedAtMs(intent, requestTimeoutMs));
      }
    }
  }
  return lastMs;
}
