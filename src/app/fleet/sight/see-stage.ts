/**
 * Looks at the clusters of one stage of a rollout: the open one, or one that passed.
 *
 * Of the open one as many waiting clusters are looked for as may roll at the same time; of one that passed none, since nothing is given
 * there any more. Decides nothing.
 */
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { rollingMaxOf } from '../../../core/fleet/rollout/advance-fleet.ts';
import { isToTryAgain } from '../../../core/fleet/rollout/failure-class.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { SightDependencies } from './looks.ts';
import type { ReleaseRendering } from './release-rendering.ts';
import { seeClusters } from './see-clusters.ts';
import type { SeenClusters } from './see-clusters.ts';

/** Which stage of which rollout. */
export interface StageOf {
  readonly fleet: FleetDaemonSet;
  readonly record: FleetRecord;
  readonly rendering: ReleaseRendering;
  readonly stage: number;
}

/** What was found; undefined: there is no such stage. Rejects when a table fails. */
export async function seeStage(
  { fleet, record, rendering, stage }: StageOf,
  dependencies: SightDependencies,
): Promise<SeenClusters | undefined> {
  const dealt = record.stages[stage];
  if (dealt === undefined || stage >= fleet.strategy.stages.length) return undefined;
  const { contentHash } = record.release;
  const isOpen = stage === record.stage;
  return seeClusters(
    {
      key: record,
      list: dealt.members,
      rendering,
      // A cluster of which a few nodes have it is not given it yet as far as the next stage goes.
      isGiven: (one) =>
        one.contentHash === contentHash &&
        !(one.isPartial && stage > 0) &&
        !(isOpen && isToTryAgain(one, record)),
      roomFor: isOpen ? rollingMaxOf(record, fleet.strategy) : 0,
    },
    dependencies,
  );
}

/** All stages before the open one. */
export async function readWidely(
  open: number,
  see: (stage: number) => Promise<SeenClusters | undefined>,
): Promise<ReadonlyMap<number, SeenClusters>> {
  const passed = new Map<number, SeenClusters>();
  for (let stage = 0; stage < open; stage += 1) {
    const seen = await see(stage);
    if (seen !== undefined) passed.set(stage, seen);
  }
  return passed;
}
