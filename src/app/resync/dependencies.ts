/**
 * What `resync` is given, its published intervals, and what one invocation counts and asks while it walks.
 *
 * The intervals are promises (docs/scale.md) and count from what was last looked at, whenever the schedule fires.
 */
import { EMPTY_BOOK, TroubleCount } from '../../core/hints/cluster-troubles.ts';
import type { OwedTurn } from '../../core/hints/resync-walk.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';

/** Intervals of the schedule. None of them rests on how often it fires, or how long a walk takes. */
interface ResyncOptions {
  /** How often every key gets a hint: six hours, so four times a day. */
  readonly hintEveryMs: number;
  /** How often the state of every key is looked at for an overdue due time. */
  readonly overdueEveryMs: number;
  /** A due time counts as overdue when it passed longer ago than this. */
  readonly overdueGraceMs: number;
  /** A cluster counts as silent when not heard of for longer (protocol 1). */
  readonly silenceBoundMs: number;
  /** At most one request for a snapshot per cluster in this time (protocol 17). */
  readonly snapshotRequestEveryMs: number;
  /** Clusters looked at side by side. */
  readonly concurrentClustersMax: number;
}

/** The published intervals (docs/reference/codes.md). */
export const defaultResyncOptions: ResyncOptions = {
  hintEveryMs: 6 * 3_600_000,
  overdueEveryMs: 900_000,
  overdueGraceMs: 60_000,
  silenceBoundMs: 15 * 60_000,
  snapshotRequestEveryMs: 300_000,
  concurrentClustersMax: 8,
};

/** Kept back of an invocation for the last cluster begun: what is left of its time is a walk's. */
export const WALK_RESERVE_MS = 5_000;

export interface ResyncDependencies extends ProcessPorts {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>;
  readonly view: Pick<
    ViewStore,
    'readMeta' | 'writeMeta' | 'listNames' | 'readState' | 'readWalk' | 'writeWalk'
  >;
  readonly connector: ClusterConnector;
  readonly queue: HintQueue;
  readonly processCache: ResyncProcessCache;
  readonly options: ResyncOptions;
}

/** Counters of one invocation, and its requests; nothing of it outlives the invocation. */
export interface Tally {
  clusters: number;
  /** Could not be looked at: the next walk owes them this one's time. */
  readonly failed: OwedTurn[];
  hints: number;
  overdue: number;
  snapshotRequests: number;
  readonly asking: Asking;
  readonly troubles: TroubleCount;
}

export function newTally(asking: Asking, book = EMPTY_BOOK): Tally {
  const counts = { clusters: 0, hints: 0, overdue: 0, snapshotRequests: 0 };
  return { ...counts, failed: [], asking, troubles: new TroubleCount(book) };
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

/** Memory shared by all walks of one process; bounded by its writers (`remember`). */
export interface ResyncProcessCache {
  /** By the id that it is registered under. */
  readonly clusterUids: Map<string, ClusterUid>;
}

/** A fresh memory; make one per process and share it. */
export function createResyncProcessCache(): ResyncProcessCache {
  return { clusterUids: new Map() };
}
