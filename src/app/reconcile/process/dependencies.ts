/**
 * What one reconcile is given: ports, options, and the memory that a warm process keeps.
 *
 * Nothing here is needed for correctness but the ports: a run with an empty cache decides the same.
 */
import { REQUEST_TIMEOUT_MS } from '../../../core/pod/request-life.ts';
import type {
  BreakerStore,
  CoverageStore,
  LogStore,
  StateStore,
  ViewReader,
} from '../../../ports/stores/view-store.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterConnector } from '../../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../../ports/process.ts';
import type { HintQueue } from '../../../ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { PolicyReader } from '../../../ports/fleet-reader.ts';
import type { FreezeStore } from '../../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import type { ProcessCache } from './process-cache.ts';

/** Bounds of a reconcile, but for those of what is tried again (core/retry/retry-table.ts). */
export interface ReconcileOptions {
  /** Name of this release: a new one looks at every key once (protocol 11). */
  readonly release: string;
  /** Per-request time-out against API servers; safety counts on it (protocol 5, core/request-life.ts). */
  readonly requestTimeoutMs: number;
  /** Time kept back before the deadline for recording what was done. */
  readonly recordReserveMs: number;
  /** Cap of creates, and of deletes, of one run (spec 2.1). */
  readonly burstPodsMax: number;
  /** For so many victims a live list says whose they are, in place of a read of each: it costs about as much (ADR 0071). */
  readonly victimsListedMin: number;
  /** A cluster, or one type of it, counts as silent when not heard of for longer (protocol 1). */
  readonly silenceBoundMs: number;
  /**
   * A pod whose deletion spends availability goes by a view whose pods were heard of within this, else by a live
   * list (S3). A watcher beats every 30 s during a rollout, and a stream that is in health speaks once a minute.
   */
  readonly podsFreshMs: number;
  /** How long a run may be deferred before a live read decides (design 3, step 3). */
  readonly deferralMaxMs: number;
  /** Life of a memo (protocol 11). */
  readonly memoLifeMs: number;
}

/** The published bounds (docs/reference/codes.md). */
export const defaultReconcileOptions: ReconcileOptions = {
  release: 'unreleased',
  requestTimeoutMs: REQUEST_TIMEOUT_MS,
  recordReserveMs: 5_000,
  burstPodsMax: 250,
  victimsListedMin: 10,
  silenceBoundMs: 15 * 60_000,
  podsFreshMs: 90_000,
  deferralMaxMs: 30_000,
  memoLifeMs: 6 * 3_600_000,
};

/** Ports and options of a reconcile. */
export interface ReconcileDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'noteRival'>;
  readonly freezes: Pick<FreezeStore, 'readFreeze' | 'readStops'>;
  readonly view: ViewReader &
    StateStore &
    BreakerStore &
    Pick<LogStore, 'putLogItem'> &
    Pick<CoverageStore, 'putCoverageDays'>;
  readonly connector: ClusterConnector;
  readonly queue: HintQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly options: ReconcileOptions;
  /** One per process, made by `createProcessCache`; shared by all keys and clusters. */
  readonly cache: ProcessCache;
  /** Reads what a DaemonSet asks of its rollouts. */
  readonly policies: PolicyReader;
}

/** What steps are given: everything but what only the end of a run does (end-run.ts). */
export interface StepDependencies extends Omit<ReconcileDependencies, 'view' | 'queue'> {
  readonly view: ViewReader & Pick<StateStore, 'readState'>;
  readonly queue: Pick<HintQueue, 'sendHints'>;
}

/** Takes work that a run began and only the end of the invocation awaits: a process that answered may be frozen. */
export type Aside = (work: Promise<void>) => void;

/** The limits of one invocation. */
export interface ReconcileRun {
  /** Monotonic (Clock.monotonicMs): no request starts after it. */
  readonly deadlineMs: number;
  /** Aborted when the process is told to stop: no further batch is started. */
  readonly signal?: AbortSignal;
  /** Takes work that only the end of the invocation awaits, and never rejects. Absent: the run waits for it. */
  readonly aside?: Aside;
}
