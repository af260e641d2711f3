/**
 * Sends clusters back to what was good before a release that was halted or undone (way-back.ts).
 * All at once: nothing soaks, and no approval or window holds them. One out of reach blocks
 * nothing: it comes to the ring. Those that fail with it stop the rest.
 */
import { DRIFT_EVERY_MS, type FleetStep } from '../../../core/fleet/rollout/advance-fleet.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import {
  findReturnFailure,
  returnPlaceOf,
  withGood,
} from '../../../core/fleet/rollout/way-back.ts';
import type { ReturningStage } from '../../../core/fleet/rollout/way-back.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { FleetRecord, FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import type { GivenCluster } from '../../../core/fleet/rollout/tally-stage.ts';
import { GIVEN_MAX } from '../observe/dependencies.ts';
import type { ObserveDependencies } from '../observe/looks.ts';
import type { ClusterApply } from './give-clusters.ts';
import { readRelease, type ReleaseRendering } from '../observe/release-rendering.ts';
import { observeClusters } from '../observe/observe-clusters.ts';
import type { ReachableCluster, ObservedClusters } from '../observe/observe-clusters.ts';

interface RetreatOf {
  readonly record: FleetRecord;
  readonly fleet: FleetDaemonSet;
  readonly target: FleetRelease;
}

interface Retreat {
  readonly record: FleetRecord;
  readonly decision?: NonNullable<FleetStep['decision']>;
  readonly applies: readonly ClusterApply[];
  readonly seen: readonly ObservedClusters[];
  /** Out of reach, and not back. */
  readonly offline: readonly ClusterId[];
}

/** Looks who has to go back, and who is there. Rejects when a table fails. */
export async function goBack(
  { record, fleet, target }: RetreatOf,
  dependencies: ObserveDependencies,
): Promise<Retreat> {
  const rendering = await readRelease(fleet, target, dependencies);
  if (rendering === undefined) return nowhere(record, target);
  const isOwn = target.contentHash === record.release.contentHash;
  const seen: ObservedClusters[] = [];
  const stages: ReturningStage[] = [];
  // A cluster of two stages, which was given some nodes first, goes back once.
  const waiting = new Set<ClusterId>();
  const applies = new Map<ClusterId, ClusterApply>();
  // Of all stages: the same content may have begun anew, and clusters of later ones have it from before.
  for (const [index, dealt] of record.stages.entries()) {
    const found = await observeClusters(
      {
        key: record,
        list: dealt.members,
        rendering,
        isMember: (one) => {
          if (one === undefined) return false;
          const place = returnPlaceOf(one, record, target);
          return place === 'given' || (place === 'to-give' && !waiting.has(one.cluster));
        },
        isGiven: (one) => returnPlaceOf(one, record, target) === 'given',
        roomFor: GIVEN_MAX,
      },
      dependencies,
    );
    seen.push(found);
    const stage = fleet.strategy.stages[index];
    if (stage !== undefined) stages.push({ stage, dealt, given: found.seen.given });
    for (const [id, one] of found.records) {
      if (returnPlaceOf(one, record, target) === 'to-give') waiting.add(id);
    }
    for (const cluster of [...found.again, ...found.reachable]) {
      applies.set(cluster.registration.id, giftOf(cluster, index, rendering));
    }
  }
  const breach = findReturnFailure(stages, target, dependencies.clock.nowMs());
  const offline = seen.flatMap((one) => one.offline);
  if (breach === undefined) {
    const next = judged(record, seen, isOwn ? dependencies.clock.nowMs() : undefined);
    return { ...next, applies: [...applies.values()], seen, offline };
  }
  const stopped: FleetRecord = { ...record, breach, gate: { kind: 'breach' } };
  const decision = { kind: 'halted', message: breach.message } as const;
  return { record: stopped, decision, applies: [], seen, offline };
}

/** What an approval or a window may hold is given without them; once it is there, whole. */
function giftOf(
  cluster: ReachableCluster,
  place: number,
  rendering: ReleaseRendering,
): ClusterApply {
  const { record, registration } = cluster;
  const isThere =
    record?.phase === 'returned' && record.contentHash === rendering.release.contentHash;
  const isUngated = !isThere && rendering.isGatedFor(registration) ? (true as const) : undefined;
  return {
    ...{ cluster, rendering, place, isPartial: false, isReturn: true },
    ...defined({ isUngated }),
  };
}

/** How far it is; `endsAtMs`: the rollout is over once all are back, as what they go back to is what was applied. */
function judged(
  record: FleetRecord,
  seen: readonly ObservedClusters[],
  endsAtMs: number | undefined,
): Pick<Retreat, 'record' | 'decision'> {
  const given = givenOnce(seen);
  const waiting = seen.reduce((sum, one) => sum + one.seen.waitingClusters, 0);
  const returning = waiting + given.filter(isOnTheWayBack).length;
  const failed = given.filter((one) => one.record.phase === 'failed').length;
  // Of the release that they leave none rolls any more, and none is well with it.
  const counts = { ...record.counts, waiting: 0, rolling: 0, well: 0, failed, returning };
  if (returning > 0) return { record: { ...record, gate: { kind: 'returning' }, counts } };
  if (endsAtMs === undefined) return { record: { ...record, gate: { kind: 'returned' }, counts } };
  const { isReturn: _back, ...rest } = record;
  return {
    record: {
      ...rest,
      stage: record.stages.length,
      stageOpenedAtMs: endsAtMs,
      driftDueAtMs: endsAtMs + DRIFT_EVERY_MS,
      good: withGood(record, endsAtMs),
      gate: { kind: 'done' },
      counts,
    },
    decision: { kind: 'completed', message: 'every cluster within reach is back' },
  };
}

/** A release whose document is gone, or is none to this Rollcall: told, and nothing is guessed. */
function nowhere(record: FleetRecord, { generation }: FleetRelease): Retreat {
  const message = `generation ${String(generation)}, to which clusters would go back, cannot be read any more`;
  return {
    record: { ...record, gate: { kind: 'invalid', message } },
    applies: [],
    seen: [],
    offline: [],
  };
}

/** Each cluster once: one that was given some nodes first is of the stage that finishes it, too. */
function givenOnce(seen: readonly ObservedClusters[]): readonly GivenCluster[] {
  const given = seen.flatMap((one) => one.seen.given);
  return [...new Map(given.map((one) => [one.record.cluster, one])).values()];
}

/** Within reach, and not back yet, or not with its whole policy. */
function isOnTheWayBack({ record: { phase, isUngated }, verdict }: GivenCluster): boolean {
  const isGoing = phase === 'returning' || isUngated === true;
  return phase !== 'failed' && isGoing && verdict.kind !== 'offline';
}
