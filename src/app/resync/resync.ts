/**
 * `resync`: the schedule that finds what no event will wake (design 3, protocol 17, 23): clusters not heard of, views
 * that wait for a snapshot, timers that were lost, and a hint for every key a few times a day (L2).
 *
 * It walks through the directory, never by scan; a cluster that fails is passed over, and has its turn in the next
 * walk. The schedule may fire late, twice or never (core/hints/resync-walk.ts).
 */
import { defined } from '@rollcall/base/defined.ts';
import { beginWalk, pauseWalk, turnWithin, type ResyncWalk } from '../../core/hints/resync-walk.ts';
import { Asking, newTally, type ResyncDependencies, type Tally } from './dependencies.ts';
import { isSuspect } from '../../core/model/breaker.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { troublesOf } from '../../core/hints/cluster-troubles.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta, NameItem } from '../../core/model/view-items.ts';
import {
  askForSnapshot,
  noteSnapshotAnswer,
  noteSnapshotRequest,
} from '../clusters/ask-for-snapshot.ts';
import { namePages } from '../clusters/read-registry.ts';
import { remember } from '../reconcile/process/process-cache.ts';

/** A walk is held for this much longer than its invocation means to take: its last page, its questions. */
export const HOLD_RESERVE_MS = 10_000;

export interface ResyncResult extends Readonly<Omit<Tally, 'asking' | 'failed' | 'troubles'>> {
  /** `unfinished`: time ran out, the next invocation goes on. `held`: another one walks just now. */
  readonly walk: 'over' | 'unfinished' | 'held';
  readonly failedClusters: number;
}

/** Monotonic: no further page of the directory is begun after it. */
type Deadline = Readonly<Record<'deadlineMs', number>>;

/** Walks through the directory from where the last invocation ended, a page at a time. */
export async function resyncClusters(
  run: Deadline,
  dependencies: ResyncDependencies,
): Promise<ResyncResult> {
  const { view, clock, metrics } = dependencies;
  const asking = new Asking(clock, run.deadlineMs);
  const walk = await takeWalk(run, dependencies);
  if (walk === undefined) return resultOf(newTally(asking), 'held');
  const tally = newTally(asking, walk.troubles);
  const cursor = await walkOn(walk, { run, tally }, dependencies);
  await tally.asking.finish();
  const { failed, troubles } = tally;
  const paused = pauseWalk(walk, { failed, troubles: troubles.book, ...defined({ cursor }) });
  // Lost: the invocation that took the walk over, after our time, repeats what was done here, and counts it.
  if ((await view.writeWalk(paused)) === 'written') countTroubles(tally, paused, metrics);
  if (cursor === undefined) return resultOf(tally, 'over');
  metrics.count('ResyncUnfinished');
  return resultOf(tally, 'unfinished');
}

/** Alarms read these: troubles that began, once each; and, at the end of a walk, how many clusters are in trouble. */
function countTroubles(
  { troubles }: Tally,
  { isOver }: ResyncWalk,
  metrics: ResyncDependencies['metrics'],
): void {
  for (const [outcome, by] of troubles.begun) metrics.count('ClusterTroubles', { outcome, by });
  if (!isOver) return;
  metrics.record('TroubledClusters', troubles.book.troubled, 'Count');
  metrics.record('RegisteredClusters', troubles.book.clusters, 'Count');
}

/** The walk, stored as ours; undefined when another invocation has it. */
async function takeWalk(
  { deadlineMs }: Deadline,
  { view, clock, log }: ResyncDependencies,
): Promise<ResyncWalk | undefined> {
  const nowMs = clock.nowMs();
  const holdMs = Math.max(0, deadlineMs - clock.monotonicMs()) + HOLD_RESERVE_MS;
  const begin = beginWalk(await view.readWalk(), { nowMs, holdMs });
  if (begin.kind === 'begun' && (await view.writeWalk(begin.walk)) === 'written') {
    return { ...begin.walk, version: begin.walk.version + 1 };
  }
  log.info('another invocation walks through the clusters');
  return undefined;
}

/** Visits page after page; the cursor where time ran out, undefined at the end of the directory. */
async function walkOn(
  walk: ResyncWalk,
  { run, tally }: { readonly run: Deadline; readonly tally: Tally },
  dependencies: ResyncDependencies,
): Promise<string | undefined> {
  const { registry, clock, options } = dependencies;
  const owedSinceMs = new Map(walk.owed.map(({ cluster, sinceMs }) => [cluster, sinceMs]));
  let { cursor } = walk;
  do {
    const limit = options.concurrentClustersMax;
    const page = await registry.listClusters({ limit, ...defined({ cursor }) });
    const visits = page.clusters.map((id) => {
      const fromMs = Math.min(walk.fromMs, owedSinceMs.get(id) ?? Infinity);
      return visitCluster({ id, fromMs, untilMs: walk.untilMs }, tally, dependencies);
    });
    await Promise.all(visits);
    ({ cursor } = page);
  } while (cursor !== undefined && clock.monotonicMs() < run.deadlineMs);
  return cursor;
}

/** Looks at one cluster; never rejects, so that a cluster that fails does not delay the others (protocol 23). */
async function visitCluster(
  visit: ClusterVisit,
  tally: Tally,
  dependencies: ResyncDependencies,
): Promise<void> {
  tally.clusters += 1;
  try {
    await lookAtCluster(visit, tally, dependencies);
  } catch (error) {
    tally.failed.push({ cluster: visit.id, sinceMs: visit.fromMs });
    tally.troubles.note(visit.id, undefined, dependencies.clock.nowMs());
    dependencies.metrics.count('ResyncClusters', { outcome: 'failed' });
    dependencies.log.warn('cluster could not be resynced', { cluster: visit.id }, error);
  }
}

function resultOf(
  { asking: _done, troubles: _counted, failed, ...counts }: Tally,
  walk: ResyncResult['walk'],
): ResyncResult {
  return { walk, ...counts, failedClusters: failed.length };
}

interface ClusterVisit {
  readonly id: ClusterId;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Asked {
  readonly registration: ClusterRegistration;
  readonly tally: Tally;
}

/**
 * Looks at one cluster, and hints what has its turn. At each boundary of `overdueEveryMs` its due
 * times are looked at: a key whose due time passed has lost its timer (protocol 12). At each of
 * `hintEveryMs` every key is hinted. Hints of one boundary have one deduplication id, so that a turn
 * that is done again, after a crash, costs nothing twice. Rejects when a dependency is lost: its
 * turn is then owed. Whatever is done or told rests on a registration that was read for it.
 */
async function lookAtCluster(
  visit: ClusterVisit,
  tally: Tally,
  dependencies: ResyncDependencies,
): Promise<void> {
  const { id } = visit;
  const { registry, view, processCache, clock, log, metrics, options } = dependencies;
  if (await isWell(visit, dependencies)) {
    tally.troubles.note(id, [], clock.nowMs());
    metrics.count('ResyncClusters', { outcome: 'heard' });
    return;
  }
  const registration = await registry.readCluster(id);
  if (registration === undefined) return;
  remember(processCache.clusterUids, id, registration.clusterUid);
  const meta = await view.readMeta(registration.clusterUid);
  const nowMs = clock.nowMs();
  const holding = troublesOf(meta, { nowMs, ...options });
  tally.troubles.note(id, holding, nowMs);
  metrics.count('ResyncClusters', { outcome: holding[0] ?? 'heard' });
  if (meta === undefined) {
    log.debug('nothing was ever heard of a cluster', { cluster: id });
    // Or its view was lost: a quiet cluster would say nothing for ten minutes (row 34).
    requestFirstSnapshot({ registration, tally }, dependencies);
    return;
  }
  if (holding.includes('silent')) {
    const silentMs = nowMs - meta.lastSentAtMs;
    log.warn('nothing was heard of a cluster lately', { cluster: id, silentMs });
  }
  if (!meta.isComplete && tally.asking.hasRoom) {
    await requestSnapshot({ registration, meta, tally }, dependencies);
  }
  await takeTurns({ registration, meta, dependencies }, visit, tally);
}

/** True of a cluster that this process knows, that is in no trouble and has no turn: there is nothing to do or tell. */
async function isWell(
  visit: ClusterVisit,
  { view, processCache, clock, options }: ResyncDependencies,
): Promise<boolean> {
  const known = processCache.clusterUids.get(visit.id);
  const { hinting, checking } = turnsOf(visit, options);
  if (known === undefined || hinting !== undefined || checking !== undefined) return false;
  const meta = await view.readMeta(known);
  return troublesOf(meta, { nowMs: clock.nowMs(), ...options }).length === 0;
}

type ResyncOptions = ResyncDependencies['options'];

/** Whose turn it is in a visit: the number of the interval, or undefined. */
function turnsOf(
  { id, fromMs, untilMs }: ClusterVisit,
  { hintEveryMs, overdueEveryMs }: ResyncOptions,
): Readonly<Record<'hinting' | 'checking', number | undefined>> {
  const turn = { spread: hash48(id), fromMs, untilMs };
  return { hinting: turnWithin(hintEveryMs, turn), checking: turnWithin(overdueEveryMs, turn) };
}

interface ClusterScope {
  readonly registration: ClusterRegistration;
  readonly meta: ClusterMeta;
  readonly dependencies: ResyncDependencies;
}

async function takeTurns(scope: ClusterScope, visit: ClusterVisit, tally: Tally): Promise<void> {
  const { hinting, checking } = turnsOf(visit, scope.dependencies.options);
  if (hinting !== undefined) {
    for await (const names of pagesOf(scope)) {
      await sendHints(names, `resync/all-${hinting}/`, scope);
      tally.hints += names.length;
    }
  } else if (checking !== undefined) {
    for await (const names of pagesOf(scope)) {
      const overdue = await findOverdue(names, scope);
      await sendHints(overdue, `resync/due-${checking}/`, scope);
      tally.overdue += overdue.length;
      tally.hints += overdue.length;
    }
  }
}

function pagesOf({ registration, dependencies }: ClusterScope): ReturnType<typeof namePages> {
  return namePages(dependencies.view, registration.clusterUid);
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
  deduplicationPrefix: string,
  { registration, meta, dependencies }: ClusterScope,
): Promise<void> {
  if (names.length === 0) return;
  const { queue, clock } = dependencies;
  const pace = isSuspect(meta.breaker, clock.nowMs()) ? 'suspect' : 'usual';
  const hints = names.map((name) => hintFor(registration, name, 'resync'));
  await queue.sendHints(hints, deduplicationPrefix, pace);
}

/** Asks for a snapshot while the view is not whole. META keeps when, so schedules that overlap, or fire often, ask once. */
async function requestSnapshot(
  { registration, tally, meta }: Asked & { readonly meta: ClusterMeta },
  dependencies: ResyncDependencies,
): Promise<void> {
  const { view, clock, random, options } = dependencies;
  if (registration.mode === 'observe') return;
  const noted = noteSnapshotRequest(meta, options.snapshotRequestEveryMs, clock.nowMs());
  // Lost: a message arrived just now, and the next walk looks again.
  if (noted === undefined || (await view.writeMeta(noted)) === 'lost') return;
  beginAsking({ registration, tally }, `resync-${random.uniqueId()}`, dependencies);
}

/**
 * The same for a cluster without META: nothing was ever heard of it, or its view was lost. There is nowhere to keep when
 * it was asked, so the id stands for the interval: a watcher answers each id once, however often it is written.
 */
function requestFirstSnapshot(
  { registration, tally }: Asked,
  dependencies: ResyncDependencies,
): void {
  const { clock, options } = dependencies;
  if (registration.mode === 'observe' || !tally.asking.hasRoom) return;
  const interval = Math.floor(clock.nowMs() / options.snapshotRequestEveryMs);
  beginAsking({ registration, tally }, `resync-unheard-${interval}`, dependencies);
}

/** Beside the walk, which waits for no API server that does not answer (protocol 23). */
function beginAsking(
  { registration, tally }: Asked,
  requestId: string,
  dependencies: ResyncDependencies,
): void {
  const ask = async (): Promise<void> => {
    try {
      const answer = await askForSnapshot(registration, requestId, dependencies.connector);
      noteSnapshotAnswer(registration, answer, dependencies);
      if (answer.kind === 'asked') tally.snapshotRequests += 1;
    } catch (error) {
      dependencies.log.warn('no snapshot could be asked for', { cluster: registration.id }, error);
    }
  };
  tally.asking.begin(ask());
}
