/**
 * Writes what a step judged of clusters, by compare-and-set; who loses one leaves it to the next step, which judges anew.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { READ_AT_ONCE } from './dependencies.ts';
import type { StepFleetsDependencies } from './dependencies.ts';
import type { Gift } from './give-clusters.ts';
import type { SeenClusters } from './see-clusters.ts';

/** Writes those that changed and are given nothing: what is given something is written with it. */
export async function writeJudgements(
  fleet: FleetRecord,
  seen: readonly SeenClusters[],
  gifts: readonly Gift[],
  { rollouts }: Pick<StepFleetsDependencies, 'rollouts'>,
): Promise<void> {
  const given = new Set(gifts.map(({ cluster }) => cluster.registration.id));
  const changed = seen.flatMap((one) => one.changed).filter(({ cluster }) => !given.has(cluster));
  await sideBySide(changed, READ_AT_ONCE, (record) => rollouts.writeClusterRecord(fleet, record));
}
