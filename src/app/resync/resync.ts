/**
 * `resync`: the schedule that finds what no event will wake (design 3, protocol 17, 23).
 *
 * Clusters not heard of, views that wait for a snapshot, timers that were lost, and a hint for every
 * key a few times a day (L2). It walks through the directory, never by scan; a cluster that fails is
 * counted and passed over, and has its turn in the next walk. Whose turn it is follows from where the
 * walk before began, which the table remembers (core/resync-walk.ts): the schedule may fire late,
 * twice or never, and a walk may take any number of invocations.
 */
import { defined } from '@rollcall/base/defined.ts';
import { beginWalk, pauseWalk } from '../../core/hints/resync-walk.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import { Asking, newTally } from './dependencies.ts';
import type { ResyncDependencies, Tally } from './dependencies.ts';
import { lookAtCluster } from './look-at-cluster.ts';
import type { ClusterVisit } from './look-at-cluster.ts';

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

/** What somebody is called for: what began, once each; and, at the end of a walk, how many clusters are in trouble. */
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

/** The walk, stored as ours; undefined when somebody else has it. */
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
