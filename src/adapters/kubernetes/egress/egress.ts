/**
 * Where a connection to a registered cluster may go (S12, faults row 66, ADR 0021).
 *
 *   registration ─▶ shape of the address ─▶ host, port ─▶ resolver ─▶ every address judged
 *                                                                        │
 *                               the socket connects to these, no others ◀┘
 *
 * Public addresses; private ones in ranges that the registration names; loopback where the composition allows it. A
 * name is resolved for each new connection, so rebinding changes nothing; one refused address refuses the answer.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type BlockList, type LookupFunction } from 'node:net';
import type { ClusterRegistration, EgressPermit } from '../../../core/model/registration.ts';
import type { EgressRefusal, EgressRefusalReason } from '../../../ports/cluster/cluster-access.ts';
import { AWS_PARTITIONS } from './aws-partitions.ts';
import { classifyAddress, isListed, isPrivateRange, rangeList } from './address-class.ts';
import { parseEndpoint, type Endpoint } from './endpoint.ts';
import { defined } from '@rollcall/base/defined.ts';

/** An address that a name resolved to. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Endpoints that the composition allows beyond those of a registration. All of it may be absent. */
export interface EgressPolicy {
  /** `allowed` only at stage local, where API servers of this machine are managed. Default: refused. */
  readonly loopback?: 'refused' | 'allowed';
  /** If given and not empty, hosts must be one of these, or below one: an operator's allow-list. */
  readonly hostSuffixes?: readonly string[];
  /** Which hosts may be given EKS tokens: those of EKS (default), or, in tests, any. */
  readonly eksTokenHosts?: 'eks' | 'any';
  /** All addresses of a host name. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
}

export interface EgressRequest {
  readonly endpoint: Endpoint;
  /** An EKS token names its cluster, not the address: sent elsewhere, it would open that cluster to its reader. */
  readonly tokenIsFor: 'endpoint' | 'eks';
  /** Addresses that the registration permits besides public ones. */
  readonly permit?: EgressPermit;
  readonly policy: EgressPolicy;
  /** Told when a connection was refused later, because its name now leads elsewhere. */
  readonly onRefused: (refusal: EgressRefusal) => void;
}

/** Result of judging an endpoint before anything is sent. */
export type OpenedEgress =
  { readonly kind: 'opened'; readonly lookup: LookupFunction } | EgressRefusal;

/** A connection that was not made: its address is not permitted. Names no address (S11). */
class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
  readonly code = 'EGRESS_REFUSED';
  readonly reason: EgressRefusalReason;

  constructor(reason: EgressRefusalReason) {
    super(`the address is not permitted: ${reason}`);
    this.reason = reason;
  }
}

const HTTPS_PORT = 443;
/** Ports below are those of mail, shells, names and directories: no API server listens there. */
const UNPRIVILEGED_PORT_MIN = 1024;
const PRIVATE_RANGES_MAX = 16;
/** API servers of EKS: IPv4 clusters, and IPv6 clusters since October 2024; in every partition. */
const EKS_HOST_PATTERN = new RegExp(
  `^[a-z0-9.-]+\\.(?:${AWS_PARTITIONS.flatMap(({ suffix, dualStackSuffix }) => [
    `eks\\.${literal(suffix)}`,
    `eks-cluster\\.[a-z0-9-]+\\.${literal(dualStackSuffix)}`,
  ]).join('|')})$`,
);

function literal(domain: string): string {
  return domain.replaceAll('.', String.raw`\.`);
}

function refuse(reason: EgressRefusalReason): EgressRefusal {
  return { kind: 'egress-refused', field: 'server', reason };
}

function isPermittedHost(host: string, suffixes: readonly string[]): boolean {
  if (suffixes.length === 0) return true;
  const name = host.replace(/\.$/, '').toLowerCase();
  return (
    isIP(host) === 0 && suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
  );
}

/** The ranges that a registration opens; undefined when one of them is not private. */
function permittedRanges(permit: EgressPermit | undefined): BlockList | undefined {
  const texts = permit?.privateRanges ?? [];
  if (texts.length > PRIVATE_RANGES_MAX) return undefined;
  return texts.every(isPrivateRange) ? rangeList(texts) : undefined;
}

/** Judges one address; undefined when it may be connected to. */
type AddressJudge = (address: string) => EgressRefusalReason | undefined;

function createJudge(ranges: BlockList, policy: EgressPolicy): AddressJudge {
  return (address) => {
    const classified = classifyAddress(address);
    switch (classified.class) {
      case 'public':
        return undefined;
      case 'private':
        return isListed(ranges, classified.meant) ? undefined : 'private';
      case 'loopback':
        return policy.loopback === 'allowed' ? undefined : 'loopback';
      default:
        return classified.class;
    }
  };
}

async function systemResolve(host: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(host, { all: true });
}

/** Resolves and judges; rejects with EgressRefusedError when any address is not permitted. */
async function resolveJudged(
  host: string,
  judge: AddressJudge,
  resolve: NonNullable<EgressPolicy['resolve']>,
): Promise<readonly ResolvedAddress[]> {
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new EgressRefusedError('no-address');
  for (const { address } of addresses) {
    const reason = judge(address);
    if (reason !== undefined) throw new EgressRefusedError(reason);
  }
  return addresses;
}

function createLookup({ policy, onRefused }: EgressRequest, judge: AddressJudge): LookupFunction {
  const resolve = policy.resolve ?? systemResolve;
  return (host, options, callback) => {
    resolveJudged(host, judge, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => {
        if (error instanceof EgressRefusedError) onRefused(refuse(error.reason));
        callback(error as NodeJS.ErrnoException, '');
      },
    );
  };
}

/**
 * Judges what can be judged before a connection: port, host, ranges, a literal address (for which Node
 * asks no resolver). The lookup that comes back judges every address of every later connection.
 */
export function openEgress(request: EgressRequest): OpenedEgress {
  const { endpoint, permit, policy } = request;
  const { host, port } = endpoint;
  if (port !== HTTPS_PORT && port < UNPRIVILEGED_PORT_MIN) return refuse('port');
  if (!isPermittedHost(host, policy.hostSuffixes ?? [])) return refuse('host');
  const isHeldToEks = request.tokenIsFor === 'eks' && policy.eksTokenHosts !== 'any';
  if (isHeldToEks && !EKS_HOST_PATTERN.test(host)) return refuse('host');
  const ranges = permittedRanges(permit);
  if (ranges === undefined) {
    return { kind: 'egress-refused', field: 'egress.privateRanges', reason: 'range' };
  }
  const judge = createJudge(ranges, policy);
  const reason = isIP(host) === 0 ? undefined : judge(host);
  if (reason !== undefined) return refuse(reason);
  return { kind: 'opened', lookup: createLookup(request, judge) };
}

/** The endpoint that a registration names, judged likewise; `onRefused` as in {@link EgressRequest}. */
export function openRegistered(
  registration: ClusterRegistration,
  { policy, onRefused }: Pick<EgressRequest, 'policy' | 'onRefused'>,
):
  | { readonly kind: 'opened'; readonly endpoint: Endpoint; readonly lookup: LookupFunction }
  | EgressRefusal {
  const parsed = parseEndpoint(registration.server);
  if (parsed.kind === 'refused') return refuse(parsed.fault);
  const { endpoint } = parsed;
  const { authentication, egress: permit } = registration;
  const tokenIsFor = authentication.kind === 'eks' ? 'eks' : 'endpoint';
  const opened = openEgress({ endpoint, tokenIsFor, policy, onRefused, ...defined({ permit }) });
  return opened.kind === 'opened' ? { ...opened, endpoint } : opened;
}
