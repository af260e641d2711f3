/**
 * Addresses of the simulated network: each machine has one address and a /24 for its pods, both made from its name, so
 * that they are the same after a restart and no registry is needed.
 *
 * Differs from Kubernetes: two machines of a large cluster may share an address, as nobody connects to it.
 */

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
