/**
 * What this deployment allows a registered endpoint beyond what its registration may ask for (S12,
 * ADR 0016): from the environment alone, which no registry item reaches.
 *
 * Loopback is for the embedded engine, which manages API servers of its own machine at stage `local`.
 * Lambda sets AWS_LAMBDA_FUNCTION_NAME itself and lets nobody unset it, so that a deployment which
 * somebody named `local` is none.
 */
import type { EgressPolicy } from '../src/adapters/kubernetes/egress.ts';

const LOCAL_STAGE = 'local';

/** Variables that the policy is read from. */
export const EGRESS_VARIABLES = [
  'ROLLCALL_STAGE',
  'ROLLCALL_ENDPOINT_SUFFIXES',
  'AWS_LAMBDA_FUNCTION_NAME',
] as const;

/** The policy of this process. An empty list of suffixes allows every public host. */
export function egressPolicy(
  environment: Readonly<Record<string, string | undefined>>,
): Pick<EgressPolicy, 'loopback' | 'hostSuffixes'> {
  const isInLambda = (environment['AWS_LAMBDA_FUNCTION_NAME'] ?? '') !== '';
  const isLocal = environment['ROLLCALL_STAGE'] === LOCAL_STAGE && !isInLambda;
  const hostSuffixes = (environment['ROLLCALL_ENDPOINT_SUFFIXES'] ?? '')
    .split(',')
    .map((suffix) => suffix.trim().toLowerCase().replace(/^\./, ''))
    .filter((suffix) => suffix !== '');
  return { loopback: isLocal ? 'allowed' : 'refused', hostSuffixes };
}
