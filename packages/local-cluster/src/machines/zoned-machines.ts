/**
 * Machines of a plain cluster in three zones, of which some have an older kernel: what a fleet is made of.
 *
 * All of them become Ready and take every pod. Kernels go by zone, as where nodes are upgraded a zone at a time: two zones of three
 * still have the old one. So a release that only harms the old kernel harms most of a canary that is spread over zones,
 * and not all of it. For nodes with taints, cordons and one that is never Ready: varied-machines.ts.
 */
import { DEFAULT_CAPACITY, machineAnnotations } from './machine-annotations.ts';
import type { MachineSpec } from './machine.ts';

/** Zones, and the kernel of their machines. */
const ZONES = [
  { zone: 'zone-a', kernel: '5.10.0-simulated' },
  { zone: 'zone-b', kernel: '5.10.0-simulated' },
  { zone: 'zone-c', kernel: '6.12.0-simulated' },
] as const;

/** `node-1` to `node-<count>`, zone by zone in turns. */
export function zonedMachines(count: number): readonly MachineSpec[] {
  return Array.from({ length: count }, (_, index) => {
    const { zone, kernel } = ZONES[index % ZONES.length] ?? ZONES[0];
    const kind = { network: 'preinstalled', readiness: 'normal', kernel } as const;
    return {
      name: `node-${String(index + 1)}`,
      labels: { 'topology.kubernetes.io/zone': zone },
      taints: [],
      annotations: machineAnnotations(kind),
      capacity: DEFAULT_CAPACITY,
      ...kind,
    };
  });
}
