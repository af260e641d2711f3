/**
 * Looks at the clusters of a rollout that is over: whose template somebody changed since (issue 18, build item 3).
 *
 * Every six hours, and all of them, so a cluster costs twenty reads a day. `report` tells who; `heal` gives it again, and looks once more two
 * minutes later: somebody who takes it back three times is a loop, which is told and left (note-verdict.ts).
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { DRIFT_EVERY_MS } from '../../../core/fleet/rollout/advance-fleet.ts';
import type { Drifted, FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { StepFleetsDependencies } from '../sight/dependencies.ts';
import type { Gift } from './give-clusters.ts';
import type { ReleaseRendering } from '../sight/release-rendering.ts';
import type { SeenClusters } from '../sight/see-clusters.ts';
import { readWidely } from '../sight/see-stage.ts';

/** After something was given again. */
const HEALED_LOOK_MS = 120_000;
const SHOWN_MAX = 16;

/** What a look came to. */
export interface DriftLook {
  readonly record: Pick<FleetRecord, 'driftDueAtMs'>;
  readonly drifted: Drifted | undefined;
  readonly gifts: readonly Gift[];
  readonly seen: readonly SeenClusters[];
}

/** What is looked at. */
export interface DriftOf {
  readonly record: FleetRecord;
  readonly fleet: FleetDaemonSet;
  readonly rendering: ReleaseRendering;
  readonly see: (stage: number) => Promise<SeenClusters | undefined>;
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
  const gifts = isHealing
    ? [...seen].flatMap(([stage, { again }]) =>
        again.map((cluster) => ({
          cluster,
          rendering,
          place: stage,
          isPartial: false,
          isReturn: false,
        })),
      )
    : [];
  return {
    record: { driftDueAtMs: nowMs + (gifts.length > 0 ? HEALED_LOOK_MS : DRIFT_EVERY_MS) },
    drifted:
      changed.length === 0
        ? undefined
        : {
            count: changed.length,
            clusters: changed.slice(0, SHOWN_MAX).map(({ cluster }) => cluster),
          },
    gifts,
    seen: [...seen.values()],
  };
}
