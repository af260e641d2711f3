/**
 * Classifies the place of an IP address: the ground on which egress is judged (S12, faults row 66).
 *
 * For IPv6 an allow-list: only global unicast is public, without what tunnels or documents. An IPv4 address inside an
 * IPv6 one (mapped, NAT64) counts as what it stands for; what cannot be read is reserved. Lists are made at their first
 * use, since Node's `isIPv6` alone takes milliseconds to compile. An operator's own NAT64 prefix cannot be told here.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Kinds of addresses; only `public`, and `private` where it is registered, may be connected to. */
export type AddressClass =
  | 'public'
  /** RFC 1918, carrier-grade NAT, benchmarking (used inside VPCs), unique local. */
  | 'private'
  | 'loopback'
  | 'link-local'
  /** Where clouds answer with credentials: instance, container and host metadata. */
  | 'metadata'
  /** Unspecified, multicast, broadcast, documentation, retired and unassigned. */
  | 'reserved';

export interface ClassifiedAddress {
  readonly class: AddressClass;
  /** The address that was judged: the IPv4 one inside, where there is one. */
  readonly meant: string;
}

/** Ranges that a registration may open, wholly or in part. */
export const PRIVATE_RANGES: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  'fc00::/7',
];

const METADATA_RANGES = [
  // AWS: instances, containers, pods, time and names; GCP and Azure answer at the first one as well.
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  'fd00:ec2::/32',
  // GCP over IPv6, Azure's host, Alibaba.
  'fd20:ce::254/128',
  '168.63.129.16/32',
  '100.100.100.200/32',
];

const RESERVED_IPV4_RANGES = [
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Inside global unicast, and yet no place for an API server: Teredo and kin, documentation, 6to4. */
const RESERVED_IPV6_RANGES = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

interface AddressRange {
  readonly network: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

const RANGE_PATTERN = /^([0-9a-f.:]{2,39})\/(\d{1,3})$/;

/** Reads a range in CIDR notation; undefined when it is none. */
function parseRange(text: string): AddressRange | undefined {
  const [, network = '', digits = ''] = RANGE_PATTERN.exec(text) ?? [];
  const prefix = Number(digits);
  if (isIPv4(network) && prefix <= 32) return { network, prefix, family: 'ipv4' };
  if (isIPv6(network) && prefix <= 128) return { network, prefix, family: 'ipv6' };
  return undefined;
}

/** The ranges as one list; throws when one cannot be read: parse what comes from outside before. */
export function rangeList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) {
    const [, network = '', digits] = RANGE_PATTERN.exec(text) ?? [];
    // Whether they are an address, and a prefix of its family, the list says itself: it throws.
    list.addSubnet(network, Number(digits), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

export function isListed(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** True for a range in CIDR notation that lies wholly in one of PRIVATE_RANGES. */
export function isPrivateRange(text: string): boolean {
  const range = parseRange(text);
  if (range === undefined) return false;
  return PRIVATE_RANGES.some((wide) => {
    const outer = parseRange(wide);
    if (outer === undefined || outer.family !== range.family) return false;
    return range.prefix >= outer.prefix && isListed(rangeList([wide]), range.network);
  });
}

/** A list that is made when an address is first judged by it. */
function lazyList(ranges: readonly string[]): () => BlockList {
  let made: BlockList | undefined;
  return () => (made ??= rangeList(ranges));
}

const lists = {
  metadata: lazyList(METADATA_RANGES),
  private: lazyList(PRIVATE_RANGES),
  loopback: lazyList(['127.0.0.0/8', '::1/128']),
  linkLocal: lazyList(['169.254.0.0/16', 'fe80::/10']),
  reservedIpv4: lazyList(RESERVED_IPV4_RANGES),
  reservedIpv6: lazyList(RESERVED_IPV6_RANGES),
  globalUnicast: lazyList(['2000::/3']),
  /** IPv4 addresses in an IPv6 dress: mapped ones, and those of the well-known NAT64 prefix. */
  embedding: lazyList(['::ffff:0:0/96', '64:ff9b::/96']),
};

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function embeddedIpv4(address: string): string {
  // The URL parser writes every IPv6 address in one way: hexadecimal groups, zeros cut once.
  const [head = '', tail] = new URL(`https://[${address}]/`).hostname.slice(1, -1).split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const [high = 0, low = 0] = [...front, ...zeros, ...back]
    .slice(-2)
    .map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

function classOf(address: string): AddressClass {
  if (isListed(lists.metadata(), address)) return 'metadata';
  if (isListed(lists.loopback(), address)) return 'loopback';
  if (isListed(lists.linkLocal(), address)) return 'link-local';
  if (isListed(lists.private(), address)) return 'private';
  if (isIPv4(address)) return isListed(lists.reservedIpv4(), address) ? 'reserved' : 'public';
  const isGlobal = isListed(lists.globalUnicast(), address);
  return isGlobal && !isListed(lists.reservedIpv6(), address) ? 'public' : 'reserved';
}

/** Judges an address. A zone id names a link of this machine, so an address with one is link-local. */
export function classifyAddress(address: string): ClassifiedAddress {
  if (address.includes('%')) return { class: 'link-local', meant: address };
  if (isIPv4(address)) return { class: classOf(address), meant: address };
  if (!isIPv6(address)) return { class: 'reserved', meant: address };
  const meant = isListed(lists.embedding(), address) ? embeddedIpv4(address) : address;
  return { class: classOf(meant), meant };
}
