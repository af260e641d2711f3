/**
 * A machine of the local cluster: what a node agent finds when it boots, and how its peculiarities are kept on its Node.
 *
 * Annotations survive a restart with `--data`, and a user who creates a Node by hand asks with them (docs/try-it.md).
 * Readiness and network are read when a machine boots, power at any time; a value that is not known means the ordinary.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** A machine, before it boots. */
export interface MachineSpec {
  /** The node's name. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Taints that the node registers with. */
  readonly taints: readonly Taint[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isCordoned?: boolean;
  readonly capacity: MachineCapacity;
  /** Version of its kernel; absent: DEFAULT_KERNEL. */
  readonly kernel?: string;
  /**
   * Where the pod network comes from: `preinstalled`; or `daemon`: it is not ready until a pod with the annotation
   * `rollcall.dev/provides: pod-network` runs here, as a CNI DaemonSet's would.
   */
  readonly network: 'preinstalled' | 'daemon';
  /** `never`: the agent reports Ready=False for good, as a node with a broken kubelet configuration does. */
  readonly readiness: 'normal' | 'never';
}

/** Quantities as Kubernetes writes them. */
export interface MachineCapacity {
  readonly cpu: string;
  readonly memory: string;
  readonly pods: string;
  readonly 'ephemeral-storage': string;
}

/** `never`: the node agent reports Ready=False for good. */
export const READINESS_ANNOTATION = 'simulate.rollcall.dev/readiness';
/** `daemon`: the pod network comes from a pod with `rollcall.dev/provides: pod-network`. */
const NETWORK_ANNOTATION = 'simulate.rollcall.dev/network';
/** The version of the machine's kernel. */
const KERNEL_ANNOTATION = 'simulate.rollcall.dev/kernel';

/** `off`: the machine loses its power; anything else: it runs. */
export const POWER_ANNOTATION = 'simulate.rollcall.dev/power';

/** Does a Node ask that its machine is off? */
export function isSwitchedOff(node: ApiObject): boolean {
  return node.metadata.annotations?.[POWER_ANNOTATION] === 'off';
}

/** What a machine has unless its Node says otherwise. */
export const DEFAULT_CAPACITY: MachineCapacity = {
  cpu: '8',
  memory: '32Gi',
  pods: '110',
  'ephemeral-storage': '100Gi',
};

/** The kernel of a machine that says nothing of it. */
export const DEFAULT_KERNEL = '6.12.0-simulated';

/** The annotations that a machine's Node registers with. */
export function machineAnnotations(
  spec: Pick<MachineSpec, 'network' | 'readiness' | 'kernel'>,
): Readonly<Record<string, string>> {
  return {
    ...(spec.readiness === 'normal' ? {} : { [READINESS_ANNOTATION]: spec.readiness }),
    ...(spec.network === 'preinstalled' ? {} : { [NETWORK_ANNOTATION]: spec.network }),
    ...(spec.kernel === undefined ? {} : { [KERNEL_ANNOTATION]: spec.kernel }),
  };
}

/** The machine behind a Node object that is there already: one of an earlier run, or one that a user created. */
export function machineOfNode(node: ApiObject): MachineSpec {
  const { name, labels = {}, annotations = {} } = node.metadata;
  const kernel = annotations[KERNEL_ANNOTATION];
  return {
    name,
    labels,
    taints: [],
    capacity: capacityOf(node['status']),
    ...(kernel === undefined ? {} : { kernel }),
    network: annotations[NETWORK_ANNOTATION] === 'daemon' ? 'daemon' : 'preinstalled',
    readiness: annotations[READINESS_ANNOTATION] === 'never' ? 'never' : 'normal',
  };
}

function capacityOf(status: Json | undefined): MachineCapacity {
  const capacity = isJsonObject(status) ? status['capacity'] : undefined;
  if (!isJsonObject(capacity)) return DEFAULT_CAPACITY;
  const quantity = (name: keyof MachineCapacity): string => {
    const value = capacity[name];
    return typeof value === 'string' ? value : DEFAULT_CAPACITY[name];
  };
  return {
    cpu: quantity('cpu'),
    memory: quantity('memory'),
    pods: quantity('pods'),
    'ephemeral-storage': quantity('ephemeral-storage'),
  };
}
