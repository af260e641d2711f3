/**
 * Machines without anything about them: as many ordinary, ready workers as a test asks for.
 *
 * For clusters as users have them, with taints, cordons and a node that is never ready: varied-machines.ts.
 */
import { DEFAULT_CAPACITY } from './machine-annotations.ts';
import type { MachineSpec } from './machine.ts';

/** `node-1` to `node-<count>`, with a network of their own. */
export function plainMachines(count: number): readonly MachineSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: {},
    taints: [],
    capacity: DEFAULT_CAPACITY,
    network: 'preinstalled',
    readiness: 'normal',
  }));
}
