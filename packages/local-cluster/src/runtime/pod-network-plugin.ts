/**
 * CNI on one machine: gives pods their addresses, once a network is configured.
 *
 * On a machine with a preinstalled network that is at once; otherwise when a pod that provides the network has run for
 * a second (it drops its configuration then). The configuration stays, as a file on disk would.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { nodeAddress, podNetwork } from './addresses.ts';
import { RuntimeError } from './cri.ts';

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
