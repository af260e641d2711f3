/**
 * A machine of the local cluster: what a node agent finds when it boots.
 *
 * Machines follow Node objects and the other way round (machines/fleet.ts): a machine that boots registers its Node; a
 * Node that somebody creates gets a machine; a Node that is deleted loses it, with everything that ran there.
 */
import type { Taint } from '@rollcall/base/objects.ts';

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
