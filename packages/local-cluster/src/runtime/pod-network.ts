/**
 * The network of one machine: its address, a /24 for its pods, and CNI, which gives pods their addresses once a network is
 * configured. Addresses are made from the machine's name, so that they are the same after a restart.
 *
 * With a preinstalled network that is at once, else when a pod that provides the network has run for a second; the
 * configuration stays, as a file on disk would. Differs from Kubernetes: two machines of a large cluster may share an
 * address, as no client connects to it.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { RuntimeError } from './cri.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Addresses of a /24 that pods may have: .0 is the network, .1 the bridge, .255 the broadcast. */
const FIRST_POD = 2;
const LAST_POD = 254;

/** The machine's address (InternalIP of its Node), in 172.16.0.0/12. */
export function nodeAddress(nodeName: string): string {
  const bits = hashText(nodeName) & 0xf_ffff;
  return `172.${16 + (bits >>> 16)}.${(bits >>> 8) & 0xff}.${bits & 0xff}`;
}

/** The pods' network of a machine (podCIDR of its Node), a /24 in 10.0.0.0/8. */
export function podNetwork(nodeName: string): {
  readonly cidr: string;
  /** How many pods have room. */
  readonly size: number;
  /** The address of pod number 0, 1, … below `size`. */
  readonly address: (index: number) => string;
} {
  const bits = hashText(nodeName);
  const prefix = `10.${(bits >>> 8) & 0xff}.${bits & 0xff}`;
  return {
    cidr: `${prefix}.0/24`,
    size: LAST_POD - FIRST_POD + 1,
    address: (index) => `${prefix}.${FIRST_POD + index}`,
  };
}

function hashText(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  // FNV's low bits of short texts that differ at the end are close together: mix them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The network of a machine. */
export interface PodNetworkPlugin {
  isReady(): boolean;
  /** A configuration has been dropped. */
  configure(): void;
  onReady(listener: () => void): Cancel;
  /** CNI ADD, loopback then cluster network; throws RuntimeError `Network` when there is none or no address is left. */
  add(sandboxId: string): string;
  /** CNI DEL; idempotent. */
  remove(sandboxId: string): void;
  /** The machine's own address. */
  readonly hostIp: string;
}

/** Makes the network of one machine. */
export function createPodNetworkPlugin(options: {
  readonly nodeName: string;
  readonly isPreinstalled: boolean;
}): PodNetworkPlugin {
  const network = podNetwork(options.nodeName);
  const listeners = new Set<() => void>();
  const indexes = new Map<string, number>();
  const used = new Set<number>();
  let isReady = options.isPreinstalled;
  let next = 0;

  /** Takes the addresses in turn, as host-local does: a freed one rests before it is given again. */
  const allocate = (): number | undefined => {
    for (let tried = 0; tried < network.size; tried += 1) {
      const index = (next + tried) % network.size;
      if (used.has(index)) continue;
      next = index + 1;
      return index;
    }
    return undefined;
  };

  return {
    isReady: () => isReady,
    configure: () => {
      if (isReady) return;
      isReady = true;
      for (const listener of listeners) listener();
    },
    onReady: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add: (sandboxId) => {
      if (!isReady) throw networkError('cni plugin not initialized');
      const index = allocate();
      if (index === undefined) {
        throw networkError(`no IP addresses available in range set: ${network.cidr}`);
      }
      indexes.set(sandboxId, index);
      used.add(index);
      return network.address(index);
    },
    remove: (sandboxId) => {
      const index = indexes.get(sandboxId);
      if (index === undefined) return;
      indexes.delete(sandboxId);
      used.delete(index);
    },
    hostIp: nodeAddress(options.nodeName),
  };
}

/** The words of containerd; without the sandbox's id, so that the event counts up. */
export function networkError(because: string): RuntimeError {
  return new RuntimeError(
    'Network',
    `rpc error: code = Unknown desc = failed to setup network for sandbox: plugin type="simulated" failed (add): ${because}`,
  );
}
