/**
 * Looks every six hours at all clusters of a rollout that is over for templates that other clients changed.
 * `report` tells them; `heal` gives it again, and looks once more two minutes later.
 * Healing keeps to the concurrency and the forgiven failures of the last stage.
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { DRIFT_EVERY_MS } from '../../../core/fleet/rollout/advance-fleet.ts';
import { isBeyondForgiven } from '../../../core/fleet/rollout/failure-class.ts';
import type { Drifted, FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { StepFleetsDependencies } from '../observe/dependencies.ts';
import type { ClusterApply } from './give-clusters.ts';
import type { ReleaseRendering } from '../observe/release-rendering.ts';
import { onTheirWayBesides, readWidely } from '../observe/observe-clusters.ts';
import type { ObservedClusters } from '../observe/observe-clusters.ts';
import { nodesRoundedUp } from '../../../core/policy/share.ts';

/** After something was given again. */
const HEALED_LOOK_MS = 120_000;
const SHOWN_MAX = 16;

export interface DriftLook {
  readonly record: Pick<FleetRecord, 'driftDueAtMs'>;
  readonly drifted: Drifted | undefined;
  readonly applies: readonly ClusterApply[];
  readonly seen: readonly ObservedClusters[];
}

interface DriftOf {
  readonly record: FleetRecord;
  readonly fleet: FleetDaemonSet;
  readonly rendering: ReleaseRendering;
  readonly see: (stage: number) => Promise<ObservedClusters | undefined>;
}

/** Looks when that is due; undefined: it is not, or the rollout is not over. Rejects when a table fails. */
export async function lookForDrift(
  { record, fleet, rendering, see }: DriftOf,
  { clock }: Pick<StepFleetsDependencies, 'clock'>,
): Promise<DriftLook | undefined> {
  const nowMs = clock.nowMs();
  if (record.gate.kind !== 'done' || nowMs < record.driftDueAtMs) return undefined;
  const seen = await readWidely(record.stages.length, see);
  const isHealing = fleet.strategy.drift === 'heal' && record.orders.paused === undefined;
  const changed = [...seen].flatMap(([stage, { seen: found }]) =>
    found.given.flatMap(({ record: one, verdict }) =>
      verdict.kind === 'reverted' ? [{ stage, cluster: one.cluster }] : [],
    ),
  );
  const again = isHealing
    ? [...seen].flatMap(([stage, one]) =>
        one.again.map((cluster) => ({
          cluster,
          rendering,
          place: stage,
          isPartial: false,
          isReturn: false,
        })),
      )
    : [];
  const room = healingRoom(record, fleet, [...seen.values()]);
  const isBusy = again.length > 0 && room !== 'held';
  const isPart = [...seen.values()].some((one) => (one.seen.unseenClusters ?? 0) > 0);
  const pauseMs = isBusy ? HEALED_LOOK_MS : DRIFT_EVERY_MS;
  const applies = room === 'held' ? [] : again.slice(0, room);
  return {
    // Of thousands a step looks at a part.
    record: { driftDueAtMs: nowMs + (isPart ? 0 : pauseMs) },
    drifted:
      changed.length === 0
        ? undefined
        : {
            count: changed.length,
            clusters: changed.slice(0, SHOWN_MAX).map(({ cluster }) => cluster),
          },
    applies,
    seen: [...seen.values()],
  };
}

/** How many more may be given it now; `held`: more of them failed than the last stage forgives. */
function healingRoom(
  { orders, stageOpenedAtMs }: FleetRecord,
  { strategy }: FleetDaemonSet,
  seen: readonly ObservedClusters[],
): number | 'held' {
  const last = strategy.stages.at(-1);
  const given = seen.flatMap((one) => one.seen.given);
  if (last === undefined) return 'held';
  // What failed before was forgiven, or overruled.
  const sinceMs = Math.max(stageOpenedAtMs, orders.resumed?.atMs ?? 0);
  const failed = given.filter(({ record }) => (record.failure?.atMs ?? 0) > sinceMs);
  if (isBeyondForgiven(failed, last, given.length)) return 'held';
  const onTheirWay = seen.reduce((sum, one) => sum + onTheirWayBesides(one, one.again), 0);
  const atOnce = Math.max(1, nodesRoundedUp(last.maxConcurrency, given.length));
  return Math.max(0, atOnce - onTheirWay);
}
