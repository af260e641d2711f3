/**
 * Which fleet has a DaemonSet of a cluster in a stage, and what that stage waits for: told where its own rollout is told.
 *
 * A fleet's DaemonSet has the name of its fleet. Told of a cluster that was given something by a rollout that is not over: what opens
 * next there is decided by the fleet, whatever the DaemonSet's own gate says.
 */
import type { DaemonSetKey } from '../../../core/model/identifiers.ts';
import { describeFleetGate, fleetPhaseOf } from '../../../core/fleet/told/describe-fleet.ts';
import type { FleetHold } from '../../../core/model/staged-progress.ts';
import type { RolloutPhase } from '../../../core/rollout/gate-words.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { FleetRolloutStore } from '../../../ports/stores/fleet-rollout-store.ts';
import { findFleetRollout, type FleetRolloutSources } from './find-fleet-rollout.ts';

/** The fleet, as far as concerns this cluster. */
export interface HoldingFleet {
  /** namespace/name. */
  readonly name: string;
  /** The stage of the cluster, and which of how many; absent: it goes back. */
  readonly stage?: { readonly name: string; readonly number: number; readonly of: number };
  /** True while its first nodes alone have it: what follows there opens with the fleet's next stage. */
  readonly isPartial: boolean;
  readonly phase: RolloutPhase;
  /** The fleet's gate, in words. */
  readonly gateText: string;
  /** The command that goes on. */
  readonly command: string;
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
    isPartial: own.isPartial,
    phase: fleetPhaseOf(record),
    gateText: describeFleetGate(record),
    command: `rollcall fleet ${orderThatGoesOn(record)}`,
  };
}

/** Words after `rollcall fleet`: the order that goes on, or the look that says more. */
function orderThatGoesOn({ gate, namespace, name }: FleetRecord): string {
  const key = `${namespace}/${name}`;
  switch (gate.kind) {
    case 'approval':
    case 'no-evidence':
      return `approve ${key}`;
    case 'paused':
      return `resume ${key}`;
    case 'breach':
    case 'returned':
    case 'frozen':
    case 'invalid':
      return `status ${key}`;
    default:
      return `status ${key} --watch`;
  }
}

/** The gate of that rollout while the fleet has its first nodes, as the end of a sentence. */
export function describeHold(fleet: HoldingFleet): string {
  return `held by ${whereOf(fleet)}, which gave it to these nodes alone: ${fleet.gateText}`;
}

/** The gate there; undefined: all nodes have it, and steps open as the policy says. */
export function holdOf(fleet: HoldingFleet): FleetHold | undefined {
  if (!fleet.isPartial) return undefined;
  return { kind: 'fleet', fleet: fleet.name, message: describeHold(fleet) };
}

/** In a sentence, with the command that goes on. */
export function describeHolding(fleet: HoldingFleet): string {
  const { gateText, command } = fleet;
  return `Held by ${whereOf(fleet)}: ${gateText}. Orders are given there: ${command}`;
}

function whereOf({ name, stage }: HoldingFleet): string {
  if (stage === undefined) return `fleet ${name}`;
  return `fleet ${name}, stage ${stage.name} (${String(stage.number)} of ${String(stage.of)})`;
}
