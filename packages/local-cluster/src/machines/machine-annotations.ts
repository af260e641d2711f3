/**
 * How a machine's peculiarities are kept on its Node object, so that they survive a restart with `--data` and can be
 * asked for by whoever creates a Node by hand (docs/simulation.md).
 *
 * Readiness and network are read when a machine boots, power at any time. A value that is not known means the ordinary.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { MachineCapacity, MachineSpec } from './machine.ts';

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

/** The machine behind a Node object that is there already: one of an earlier run, or one that somebody created. */
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
