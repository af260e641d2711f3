/**
 * What one invocation of `resync` counts while it walks, and what it asks API servers meanwhile.
 *
 * Nothing of it outlives the invocation.
 */
import type { OwedTurn } from '../../core/hints/resync-walk.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** Counters of one invocation, and its requests. */
export interface Tally {
  clusters: number;
  /** Could not be looked at: the next walk owes them this one's time. */
  readonly failed: OwedTurn[];
  /** Not heard of for longer than the bound; those never heard of are not among them. */
  silentClusters: number;
  hints: number;
  overdue: number;
  snapshotRequests: number;
  readonly asking: Asking;
}

/** Nothing yet. */
export function newTally(asking: Asking): Tally {
  const counts = { clusters: 0, silentClusters: 0, hints: 0, overdue: 0, snapshotRequests: 0 };
  return { ...counts, failed: [], asking };
}

/** Requests to API servers at once; a cluster that finds no room is asked by the next round. */
const ASKING_MAX = 64;
/** The longest that one takes: connecting, and a request that is never answered. */
const ASKING_MS = 15_000;

/**
 * Requests to API servers beside the walk: one that is not answered holds neither the cursor nor the clusters
 * behind it (protocol 23). All are awaited at the end; none begins too late for that.
 */
export class Asking {
  readonly #running = new Set<Promise<void>>();
  readonly #latestMs: number;
  readonly #clock: Clock;

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock;
    this.#latestMs = deadlineMs - ASKING_MS;
  }

  get hasRoom(): boolean {
    return this.#running.size < ASKING_MAX && this.#clock.monotonicMs() < this.#latestMs;
  }

  /** Begins; `ask` must not reject. */
  begin(ask: Promise<void>): void {
    const running = ask.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#running);
  }
}
