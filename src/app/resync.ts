/**
 * `resync`: the schedule that finds what no event will wake (design 3, protocol 17, 23).
 *
 * Clusters not heard of, views that wait for a snapshot, timers that were lost, and a hint for every
 * key a few times a day (L2). It goes through the directory with a cursor, never by scan; a cluster
 * that fails is counted and passed over. It keeps no memory: whose turn it is follows from the clock.
 */
import { isOpen, isSuspect } from '../core/breaker.ts';
import { hash48 } from '../core/set-hash.ts';
import { HINT_SCHEMA } from '../core/model/hint.ts';
import type { Hint } from '../core/model/hint.ts';
import type { ClusterId } from '../core/model/identifiers.ts';
import type { ClusterRegistration } from '../core/model/registration.ts';
import type { ClusterMeta, NameItem } from '../core/model/view-items.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterConnector } from '../ports/cluster-access.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { HintQueue } from '../ports/queue.ts';
import type { Random } from '../ports/random.ts';
import type { RegistryStore } from '../ports/registry-store.ts';
import type { ViewStore } from '../ports/view-store.ts';

const NAMES_PER_PAGE = 100;

/** Intervals of the schedule. */
export interface ResyncOptions {
  /** How often the schedule fires. */
  readonly tickMs: number;
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

/** The published intervals (docs/reference.md). */
export const defaultResyncOptions: ResyncOptions = {
  tickMs: 60_000,
  hintEveryMs: 6 * 3_600_000,
  overdueEveryMs: 900_000,
  overdueGraceMs: 60_000,
  silenceBoundMs: 15 * 60_000,
  snapshotRequestEveryMs: 300_000,
  concurrentClustersMax: 8,
};

/** What `resyncClusters` needs. */
export interface ResyncDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta' | 'listNames' | 'readState'>;
  readonly connector: ClusterConnector;
  readonly queue: HintQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly options: ResyncOptions;
}

/** Where to begin, and until when. */
export interface ResyncRun {
  /** Monotonic: no further page of the directory is begun after it. */
  readonly deadlineMs: number;
  /** From the result of the invocation before; absent: from the beginning of the directory. */
  readonly cursor?: string;
}

/** What one invocation did. */
export interface ResyncResult {
  readonly clusters: number;
  readonly failedClusters: number;
  /** Not heard of for longer than the bound; those never heard of are not among them. */
  readonly silentClusters: number;
  readonly hints: number;
  readonly overdue: number;
  readonly snapshotRequests: number;
  /** Present when time ran out: invoke again with it. */
  readonly cursor?: string;
}

/** Goes through the directory from a cursor, a page at a time; one failing cluster holds nothing. */
export async function resyncClusters(
  run: ResyncRun,
  dependencies: ResyncDependencies,
): Promise<ResyncResult> {
  const { registry, clock, log, metrics, options } = dependencies;
  const tally: Tally = {
    clusters: 0,
    failedClusters: 0,
    silentClusters: 0,
    hints: 0,
    overdue: 0,
    snapshotRequests: 0,
    asking: new Asking(clock, run.deadlineMs),
  };
  let { cursor } = run;
  for (;;) {
    const page = await registry.listClusters({
      limit: options.concurrentClustersMax,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const answers = await Promise.allSettled(
      page.clusters.map((id) => resyncCluster(id, dependencies, tally)),
    );
    for (const [index, answer] of answers.entries()) {
      tally.clusters += 1;
      if (answer.status === 'fulfilled') continue;
      tally.failedClusters += 1;
      metrics.count('ResyncClusters', { outcome: 'failed' });
      const cluster = page.clusters[index];
      log.warn('cluster could not be resynced', { cluster }, answer.reason);
    }
    cursor = page.cursor;
    const isOver = clock.monotonicMs() >= run.deadlineMs;
    if (cursor !== undefined && !isOver) continue;
    await tally.asking.finish();
    // Each turn, zero too: an alarm must see that it is over.
    metrics.record('SilentClusters', tally.silentClusters, 'Count');
    const { asking: _done, ...counts } = tally;
    if (cursor === undefined) return counts;
    metrics.count('ResyncUnfinished');
    return { ...counts, cursor };
  }
}

/** Requests to API servers at once; whoever finds no room is asked by the next round. */
const ASKING_MAX = 64;
/** The longest that one takes: connecting, and a request that is never answered. */
const ASKING_MS = 15_000;

/**
 * Requests to API servers beside the walk: one that is not answered holds neither the cursor nor the
 * clusters behind it (protocol 23). All are awaited at the end; none begins too late for that.
 */
class Asking {
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

interface Tally {
  clusters: number;
  failedClusters: number;
  silentClusters: number;
  hints: number;
  overdue: number;
  snapshotRequests: number;
  readonly asking: Asking;
}

async function resyncCluster(
  id: ClusterId,
  dependencies: ResyncDependencies,
  tally: Tally,
): Promise<void> {
  const { registry, view, clock, log, metrics, options } = dependencies;
  const registration = await registry.readCluster(id);
  if (registration === undefined) return;
  const meta = await view.readMeta(registration.clusterUid);
  const nowMs = clock.nowMs();
  if (meta === undefined) {
    metrics.count('ResyncClusters', { outcome: 'never-heard' });
    log.debug('nothing was ever heard of a cluster', { cluster: id });
    return;
  }
  const isSilent = nowMs - meta.lastSentAtMs > options.silenceBoundMs;
  metrics.count('ResyncClusters', { outcome: isSilent ? 'silent' : 'heard' });
  if (isSilent) {
    tally.silentClusters += 1;
    const silentMs = nowMs - meta.lastSentAtMs;
    log.warn('nothing was heard of a cluster lately', { cluster: id, silentMs });
  }
  if (!meta.isComplete && tally.asking.hasRoom) {
    await requestSnapshot({ registration, meta, tally }, dependencies);
  }
  const spread = hash48(id);
  const isHinting = isTurn(options.hintEveryMs, { nowMs, spread, tickMs: options.tickMs });
  const isChecking = isTurn(options.overdueEveryMs, { nowMs, spread, tickMs: options.tickMs });
  if (!isHinting && !isChecking) return;
  await forEachPage({ registration, dependencies }, async (names) => {
    const due = isHinting ? names : await findOverdue(names, { registration, dependencies });
    if (!isHinting) tally.overdue += due.length;
    tally.hints += due.length;
    await sendHints(due, { registration, meta, dependencies });
  });
}

/**
 * True in the one tick of each interval that is this cluster's: stateless, spread over the fleet. A
 * tick that did not happen is made up for by the next interval.
 */
function isTurn(
  everyMs: number,
  at: { readonly nowMs: number; readonly spread: number; readonly tickMs: number },
): boolean {
  const phaseMs = at.spread % everyMs;
  const intervalOf = (timeMs: number): number => Math.floor((timeMs + phaseMs) / everyMs);
  return intervalOf(at.nowMs) !== intervalOf(at.nowMs - at.tickMs);
}

interface ClusterScope {
  readonly registration: ClusterRegistration;
  readonly dependencies: ResyncDependencies;
}

async function forEachPage(
  { registration, dependencies }: ClusterScope,
  visit: (names: readonly NameItem[]) => Promise<void>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await dependencies.view.listNames(registration.clusterUid, {
      limit: NAMES_PER_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    await visit(page.names);
    ({ cursor } = page);
  } while (cursor !== undefined);
}

/** Keys whose due time passed a while ago: their timer was lost (protocol 12). */
async function findOverdue(
  names: readonly NameItem[],
  { registration, dependencies }: ClusterScope,
): Promise<readonly NameItem[]> {
  const { view, clock, options } = dependencies;
  const latestMs = clock.nowMs() - options.overdueGraceMs;
  const states = await Promise.all(
    names.map(async ({ uid }) =>
      uid === null ? undefined : view.readState({ clusterUid: registration.clusterUid, uid }),
    ),
  );
  return names.filter((_name, index) => (states[index]?.dueAtMs ?? Infinity) < latestMs);
}

async function sendHints(
  names: readonly NameItem[],
  { registration, meta, dependencies }: ClusterScope & { readonly meta: ClusterMeta },
): Promise<void> {
  if (names.length === 0) return;
  const { queue, random, clock } = dependencies;
  const { id: cluster, clusterUid } = registration;
  const pace = isSuspect(meta.breaker, clock.nowMs()) ? 'suspect' : 'usual';
  const hints = names.map(({ namespace, name }): Hint => ({
    schema: HINT_SCHEMA,
    key: { cluster, namespace, name },
    clusterUid,
    reason: 'resync',
  }));
  await queue.sendHints(hints, `resync/${random.uniqueId()}`, pace);
}

/**
 * Asks the watcher for a snapshot while the view is not whole (protocol 17). META keeps when, so that
 * schedules that overlap, or fire often, ask at most once per interval.
 */
async function requestSnapshot(
  scope: {
    readonly registration: ClusterRegistration;
    readonly meta: ClusterMeta;
    readonly tally: Tally;
  },
  dependencies: ResyncDependencies,
): Promise<void> {
  const { registration, meta, tally } = scope;
  const { view, clock, log, options } = dependencies;
  const nowMs = clock.nowMs();
  const askedAtMs = meta.snapshotRequestedAtMs ?? -Infinity;
  // An API server that does not answer is asked when it does: nobody waits for it here (protocol 23).
  if (isOpen(meta.breaker, nowMs)) return;
  if (registration.mode === 'observe' || nowMs - askedAtMs < options.snapshotRequestEveryMs) {
    return;
  }
  const noted = await view.writeMeta({ ...meta, snapshotRequestedAtMs: nowMs });
  // Lost: a message arrived just now, and the next tick looks again.
  if (noted === 'lost') return;
  const ask = askForSnapshot(registration, dependencies).then(
    (isAsked) => {
      if (isAsked) tally.snapshotRequests += 1;
    },
    (error: unknown) => {
      log.warn('no snapshot could be asked for', { cluster: registration.id }, error);
    },
  );
  tally.asking.begin(ask);
}

/** Writes the request into the watcher's Lease; false when it was not taken. */
async function askForSnapshot(
  registration: ClusterRegistration,
  dependencies: ResyncDependencies,
): Promise<boolean> {
  const { connector, random, log, metrics } = dependencies;
  const connected = await connector.connect(registration);
  if (connected.kind === 'refused') {
    metrics.count('ResyncSnapshotRequests', { outcome: 'refused' });
    const fields = { cluster: registration.id, code: connected.refusal.kind };
    log.warn('no snapshot could be asked for', fields);
    return false;
  }
  const answer = await connected.access.requestSnapshot(`resync-${random.uniqueId()}`);
  const outcome = answer.kind === 'found' ? 'sent' : 'failed';
  metrics.count('ResyncSnapshotRequests', { outcome });
  return outcome === 'sent';
}
