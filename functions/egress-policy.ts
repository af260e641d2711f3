/**
 * What this deployment allows a registered endpoint beyond what its registration may ask for (S12, ADR 0021): from the
 * environment alone.
 *
 * Loopback is for API servers of this very machine, at stage `local`: in the embedded engine, and in functions that an
 * emulator of AWS runs here. Lambda sets AWS_LAMBDA_FUNCTION_NAME itself, so a deployment to AWS that somebody named
 * `local` is refused; of an emulator AWS_ENDPOINT_URL says that AWS is a loopback address. No name but `localhost`
 * counts (RFC 6761).
 */
import { isIP } from 'node:net';
import { classifyAddress } from '../src/adapters/kubernetes/egress/address-class.ts';
import type { EgressPolicy } from '../src/adapters/kubernetes/egress/egress.ts';

const LOCAL_STAGE = 'local';

/** Variables that the policy is read from. */
export const EGRESS_VARIABLES = [
  'ROLLCALL_STAGE',
  'ROLLCALL_ENDPOINT_SUFFIXES',
  'AWS_LAMBDA_FUNCTION_NAME',
  'AWS_ENDPOINT_URL',
] as const;

/** The policy of this process. An empty list of suffixes allows every public host. */
export function egressPolicy(
  environment: Readonly<Record<string, string | undefined>>,
): Pick<EgressPolicy, 'loopback' | 'hostSuffixes'> {
  const isInLambda = (environment['AWS_LAMBDA_FUNCTION_NAME'] ?? '') !== '';
  const isThisMachine = !isInLambda || isLoopbackUrl(environment['AWS_ENDPOINT_URL'] ?? '');
  const isLocal = environment['ROLLCALL_STAGE'] === LOCAL_STAGE && isThisMachine;
  const hostSuffixes = (environment['ROLLCALL_ENDPOINT_SUFFIXES'] ?? '')
    .split(',')
    .map((suffix) => suffix.trim().toLowerCase().replace(/^\./, ''))
    .filter((suffix) => suffix !== '');
  return { loopback: isLocal ? 'allowed' : 'refused', hostSuffixes };
}

function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || (isIP(host) !== 0 && classifyAddress(host).class === 'loopback');
}
