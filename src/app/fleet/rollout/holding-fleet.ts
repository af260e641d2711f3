/**
 * Which fleet has a DaemonSet of a cluster in a stage, and what that stage waits for: told where its own rollout is told.
 *
 * A fleet's DaemonSet has the name of its fleet. Told of a cluster that was given something by a rollout that is not over: what opens
 * next there is decided by the fleet, whatever the DaemonSet's own gate says.
 */
import type { DaemonSetKey } from '../../../core/model/identifiers.ts';
import { describeFleetGate, fleetPhaseOf } from '../../../core/fleet/orders/describe-fleet.ts';
import type { FleetPhase } from '../../../core/fleet/orders/describe-fleet.ts';
import type { FleetRolloutStore } from '../../../ports/stores/fleet-rollout-store.ts';
import { findFleetRollout } from './find-fleet-rollout.ts';
import type { FleetRolloutSources } from './find-fleet-rollout.ts';

/** The fleet, as far as concerns this cluster. */
export interface HoldingFleet {
  /** namespace/name. */
  readonly name: string;
  /** The stage of the cluster, and which of how many; absent: it goes back. */
  readonly stage?: { readonly name: string; readonly number: number; readonly of: number };
  readonly phase: FleetPhase;
  /** What the fleet waits for. */
  readonly gateText: string;
}

interface Sources extends FleetRolloutSources {
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord' | 'readClusterRecords'>;
}

/** Finds it; undefined: no fleet has this DaemonSet in a rollout that is under way. Rejects when a table fails. */
export async function findHoldingFleet(
  { cluster, namespace, name }: DaemonSetKey,
  sources: Sources,
): Promise<HoldingFleet | undefined> {
  const found = await findFleetRollout({ namespace, name }, sources);
  if (found.kind === 'refused' || found.record === undefined) return undefined;
  const { record } = found;
  if (record.gate.kind === 'done') return undefined;
  const own = (await sources.rollouts.readClusterRecords(record, [cluster])).get(cluster);
  if (own === undefined) return undefined;
  const { stages } = record;
  const stage = own.place === 'ring' ? undefined : stages[own.place];
  const number = own.place === 'ring' ? 0 : own.place + 1;
  return {
    name: `${namespace}/${name}`,
    ...(stage === undefined ? {} : { stage: { name: stage.name, number, of: stages.length } }),
    phase: fleetPhaseOf(record),
    gateText: describeFleetGate(record),
  };
}

/** In a sentence, with where to look. */
export function describeHolding({ name, stage, gateText }: HoldingFleet): string {
  const where =
    stage === undefined
      ? ''
      : `, stage ${stage.name} (${String(stage.number)} of ${String(stage.of)})`;
  return `Held by fleet ${name}${where}: ${gateText}. Orders are given there: rollcall fleet status ${name}`;
}
