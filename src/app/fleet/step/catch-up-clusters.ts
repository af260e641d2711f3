/**
 * The ring of clusters that came back, or came late: they go straight to what is good. At most so
 * many at once as the last stage allows; once more fail than it forgives, no other is given
 * anything. A cluster leaves the ring when it runs the release that is rolled out and proven.
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { isBeyondForgiven, isToTryAgain } from '../../../core/fleet/rollout/failure-class.ts';
import { isOnItsWay } from '../../../core/fleet/rollout/judge-cluster.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { isCatchUpHeld } from '../../../core/fleet/rollout/when-due.ts';
import { nodesRoundedUp } from '../../../core/policy/share.ts';
import { CATCH_UP_EVERY_MS } from '../observe/dependencies.ts';
import type { ObserveDependencies } from '../observe/looks.ts';
import type { ClusterApply } from './give-clusters.ts';
import { readRelease } from '../observe/release-rendering.ts';
import { readList, writeList } from '../member-lists.ts';
import { onTheirWayBesides, observeClusters } from '../observe/observe-clusters.ts';
import type { ObservedClusters } from '../observe/observe-clusters.ts';

/** While one of it rolls. */
const BUSY_EVERY_MS = 60_000;

interface CatchUpLook {
  readonly record: Pick<FleetRecord, 'ring' | 'ringDueAtMs' | 'counts'>;
  readonly applies: readonly ClusterApply[];
  readonly seen: readonly ObservedClusters[];
}

/** Looks at it when that is due; undefined: it is not, or nothing is proven. Rejects when a table fails. */
export async function catchUpClusters(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  dependencies: ObserveDependencies,
): Promise<CatchUpLook | undefined> {
  const { ring, good, release } = record;
  const [proven] = good;
  const nowMs = dependencies.clock.nowMs();
  if (proven === undefined || isCatchUpHeld(record) || nowMs < record.ringDueAtMs) return undefined;
  const rendering = await readRelease(fleet, proven, dependencies);
  const last = fleet.strategy.stages.at(-1);
  if (rendering === undefined || last === undefined) return undefined;
  const atOnce = nodesRoundedUp(last.maxConcurrency, ring.count);
  const looked = await observeClusters(
    {
      key: record,
      list: ring,
      rendering,
      isGiven: (one) => one.contentHash === proven.contentHash && !isToTryAgain(one, record),
      roomFor: atOnce,
    },
    dependencies,
  );
  const { given } = looked.seen;
  const rolling = given.filter(({ verdict }) => isOnItsWay(verdict));
  const failed = given.filter((one) => one.record.phase === 'failed');
  const isHeld = isBeyondForgiven(failed, last, ring.count);
  // As with all others: who was well, and was changed since, is given it again where drift is to be healed, so many at a time.
  const changed = looked.again.filter(
    ({ record: one }) => one?.phase !== 'well' || fleet.strategy.drift === 'heal',
  );
  const onTheirWay = onTheirWayBesides(looked, changed);
  const again = isHeld ? [] : changed.slice(0, Math.max(0, atOnce - onTheirWay));
  const room = isHeld
    ? 0
    : Math.max(0, atOnce - Math.max(rolling.length, onTheirWay + again.length));
  const next = looked.reachable.slice(0, room);
  const isDone = proven.contentHash === release.contentHash;
  const done = new Set(
    given.flatMap((one) =>
      isDone && (one.verdict.kind === 'well' || one.verdict.kind === 'empty')
        ? [one.record.cluster]
        : [],
    ),
  );
  const isBusy = rolling.length > 0 || next.length > 0 || again.length > 0;
  const applies = [...again, ...next].map((cluster) => ({
    cluster,
    rendering,
    place: 'ring' as const,
    isPartial: false,
    isReturn: false,
  }));
  return {
    record: {
      ring: await withoutDone(record, done, dependencies),
      ringDueAtMs: nowMs + (isBusy ? BUSY_EVERY_MS : CATCH_UP_EVERY_MS),
      counts: { ...record.counts, returning: rolling.length + next.length },
    },
    applies,
    seen: [looked],
  };
}

async function withoutDone(
  record: FleetRecord,
  done: ReadonlySet<ClusterId>,
  dependencies: Pick<ObserveDependencies, 'rollouts'>,
): Promise<FleetRecord['ring']> {
  if (done.size === 0) return record.ring;
  const ring = await readList(record, record.ring, dependencies);
  return writeList(
    record,
    ring.filter((id) => !done.has(id)),
    dependencies,
  );
}
