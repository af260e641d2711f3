/**
 * Local clusters as a fleet has them: the first is the canary's, the others follow; labels say so, as an operator's would.
 *
 * The canary's cluster is larger than the others. Its nodes are compared with their peers of the same zone: with eight in each of three
 * zones, two canary nodes that die in different zones are evidence enough to halt (E = 31, 25 halts), with six they hardly are.
 */
import { zonedMachines } from '@rollcall/local-cluster/machines/machines.ts';
import type { MachineSpec } from '@rollcall/local-cluster/machines/machine.ts';

/** Nodes of the canary's cluster at least. */
const CANARY_NODES_MIN = 24;

/** Nodes of a rollout's comparison have to be older than five minutes (docs/rollouts.md): these joined an hour ago. */
export const CATCH_UP_NODES_AGE_MS = 3_600_000;

const REGIONS = ['eu-west-1', 'us-east-1', 'ap-south-1'] as const;

/** The machines of a cluster, by its place among all. */
export function ringMachines(index: number, nodesPerCluster: number): readonly MachineSpec[] {
  return zonedMachines(index === 0 ? Math.max(CANARY_NODES_MIN, nodesPerCluster) : nodesPerCluster);
}

/** With what it is registered. */
export function ringLabels(index: number): Readonly<Record<string, string>> {
  return {
    ring: index === 0 ? 'canary' : 'prod',
    region: REGIONS[index % REGIONS.length] ?? REGIONS[0],
  };
}
