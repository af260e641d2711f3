/**
 * The machines of a local cluster that a newcomer meets: as mixed as a real fleet, in a fixed pattern.
 *
 * Of every twelve: a tainted control plane, a GPU pool, a cordoned node, one that never becomes Ready, labelled storage
 * nodes, plain ones. Labels and taints are those that examples/*.yaml select. Nothing here is random.
 */
import { DEFAULT_CAPACITY, machineAnnotations } from './machine-annotations.ts';
import type { MachineSpec } from './machine.ts';

/** The part that a machine plays. */
export type MachineRole = 'control-plane' | 'gpu' | 'cordoned' | 'not-ready' | 'storage' | 'worker';

/** How a cluster's machines are chosen. */
export interface VariedMachines {
  readonly count: number;
  /** `daemon`: no node is Ready before its CNI DaemonSet runs there (`npm start -- --cold`). */
  readonly network: MachineSpec['network'];
}

const GPU_LABEL = 'accelerator.example.com/gpu';
const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

/** Parts of each twelve machines, the most telling first, so that small clusters are varied too. */
const PATTERN: readonly MachineRole[] = [
  'control-plane',
  'worker',
  'storage',
  'gpu',
  'cordoned',
  'not-ready',
  'worker',
  'worker',
  'storage',
  'gpu',
  'worker',
  'worker',
];

type Part = Partial<Pick<MachineSpec, 'labels' | 'taints' | 'isCordoned' | 'readiness'>>;

const PARTS: Readonly<Record<MachineRole, Part>> = {
  'control-plane': {
    labels: { 'node-role.kubernetes.io/control-plane': '' },
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  },
  gpu: {
    labels: { [GPU_LABEL]: 'a100' },
    taints: [{ key: GPU_LABEL, value: 'present', effect: 'NoSchedule' }],
  },
  cordoned: { isCordoned: true },
  'not-ready': { readiness: 'never' },
  storage: { labels: { 'storage.example.com/local-disks': 'true' } },
  worker: {},
};

/** The machines of one cluster, named by their part: `worker-1`, `gpu-2`. */
export function variedMachines({ count, network }: VariedMachines): readonly MachineSpec[] {
  const seen = new Map<MachineRole, number>();
  return Array.from({ length: count }, (_, index) => {
    const role = roleAt(index);
    const number = (seen.get(role) ?? 0) + 1;
    seen.set(role, number);
    return machineOf({ role, name: `${role}-${String(number)}`, zone: zoneAt(index), network });
  });
}

/** One control plane for a cluster, however large. */
function roleAt(index: number): MachineRole {
  const role = PATTERN[index % PATTERN.length] ?? 'worker';
  return role === 'control-plane' && index > 0 ? 'worker' : role;
}

function zoneAt(index: number): string {
  return ZONES[index % ZONES.length] ?? ZONES[0];
}

function machineOf(parts: {
  readonly role: MachineRole;
  readonly name: string;
  readonly zone: string;
  readonly network: MachineSpec['network'];
}): MachineSpec {
  const { role, name, zone, network } = parts;
  const { labels = {}, taints = [], isCordoned = false, readiness = 'normal' } = PARTS[role];
  return {
    name,
    labels: { 'topology.kubernetes.io/zone': zone, ...labels },
    taints,
    annotations: machineAnnotations({ network, readiness }),
    isCordoned,
    capacity: DEFAULT_CAPACITY,
    network,
    readiness,
  };
}
