/**
 * Which machines there are: plain ones, as mixed as a real fleet, or in zones with different kernels.
 *
 * Labels and taints are those that examples/*.yaml select. Nothing here is random.
 */
import { DEFAULT_CAPACITY, machineAnnotations } from './machine.ts';
import type { MachineSpec } from './machine.ts';

/** Zones, and the kernel of their machines. */
const ZONES = [
  { zone: 'zone-a', kernel: '5.10.0-simulated' },
  { zone: 'zone-b', kernel: '5.10.0-simulated' },
  { zone: 'zone-c', kernel: '6.12.0-simulated' },
] as const;

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

/**
 * `node-1` to `node-<count>`, in three zones by turns, of which two have an older kernel: so a release that only harms the
 * old kernel harms most of a canary that is spread over zones, and not all of it.
 */
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

/** The part that a machine plays. */
type MachineRole = 'control-plane' | 'gpu' | 'cordoned' | 'not-ready' | 'storage' | 'worker';

/** How a cluster's machines are chosen. */
export interface VariedMachines {
  readonly count: number;
  /** `daemon`: no node is Ready before its CNI DaemonSet runs there (`npm start -- --cold`). */
  readonly network: MachineSpec['network'];
}

const GPU_LABEL = 'accelerator.example.com/gpu';

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

/**
 * The machines that a newcomer meets, named by their part: `worker-1`, `gpu-2`. Of every twelve: a tainted control plane, a GPU
 * pool, a cordoned node, one that never becomes Ready, labelled storage nodes, plain ones.
 */
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
  return (ZONES[index % ZONES.length] ?? ZONES[0]).zone;
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
