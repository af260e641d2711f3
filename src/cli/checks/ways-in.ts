/**
 * The ways into a cluster that the doctor has: the registered credential, and the user's own kubeconfig.
 *
 * A question is put to each in turn until one answers, or says that there is nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { CommandContext } from '../command-line/command-module.ts';
import { CommandError } from '../process/exit-codes.ts';
import { connectByKubeconfig } from '../reach/cluster-connection.ts';
import { defaultKubeconfig, findContext, nameOf } from '../reach/open-kubeconfig.ts';
import type { KubeconfigPlace } from '../reach/open-kubeconfig.ts';
import type { OperatorOptions } from '../reach/operator-access.ts';
import { unchecked, type InspectedBy } from '../../app/checks/needs.ts';
import type { ClusterInspection, Inspected } from '../../ports/cluster/cluster-inspection.ts';
import { createClusterInspection } from '../../adapters/kubernetes/operator/cluster-inspection.ts';
import { staticBearer } from '../../adapters/kubernetes/credentials/token-source.ts';
import type { Credential } from '../../adapters/kubernetes/credentials/token-source.ts';
import { openEgress, type EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../adapters/kubernetes/egress/endpoint.ts';
import { HttpsTransport } from '../../adapters/kubernetes/transport/transport.ts';
import type { ClusterAuthentication, ClusterRegistration } from '../../core/model/registration.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

export type WayIn = { readonly inspection: ClusterInspection } | { readonly why: string };

export interface WaysIn {
  readonly registration: WayIn;
  readonly kubeconfig: WayIn;
}

export function whyNot<T>(answer: Exclude<Inspected<T>, { kind: 'answered' }>): string {
  switch (answer.kind) {
    case 'missing':
      return 'the API server does not know it (404)';
    case 'refused':
      return answer.status === 401
        ? 'the credential is not accepted (401)'
        : 'the credential may not look (403)';
    case 'failed':
      return answer.why;
  }
}

/** Asks each way in turn until one answers or says that there is nothing. */
export async function askEach<T>(
  ways: WaysIn,
  question: (inspection: ClusterInspection) => Promise<Inspected<T>>,
): Promise<
  | { readonly kind: 'answered'; readonly value: T; readonly by: InspectedBy }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unchecked'; readonly why: string }
> {
  const reasons: string[] = [];
  for (const by of ['registration', 'kubeconfig'] as const) {
    const way = ways[by];
    if ('why' in way) {
      reasons.push(way.why);
      continue;
    }
    const answer = await question(way.inspection);
    if (answer.kind === 'answered') return { ...answer, by };
    if (answer.kind === 'missing') return answer;
    reasons.push(`by the ${by}: ${whyNot(answer)}`);
  }
  return unchecked([...new Set(reasons)].join('; '));
}

const REQUEST_TIMEOUT_MS = 8_000;

/**
 * The way in by the registration. Its endpoint is judged as for the functions. Tokens of EKS and sealed ones are
 * the functions' alone: no command signs or opens them.
 */
export function openRegisteredWay(
  registration: ClusterRegistration,
  { clock, egress }: { readonly clock: Clock; readonly egress: EgressPolicy },
): WayIn {
  const { authentication, server, caPem, egress: permit } = registration;
  const credential = credentialOf(authentication);
  if ('why' in credential) return credential;
  const parsed = parseEndpoint(server);
  if (parsed.kind === 'refused') return { why: 'the registered address cannot be used' };
  const opened = openEgress({
    endpoint: parsed.endpoint,
    tokenIsFor: 'endpoint',
    policy: egress,
    onRefused: () => undefined,
    ...defined({ permit }),
  });
  if (opened.kind === 'egress-refused') return { why: 'the registered address is not permitted' };
  try {
    const transport = new HttpsTransport({
      endpoint: parsed.endpoint,
      lookup: opened.lookup,
      credential,
      clock,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      ...defined({ caPem }),
    });
    return { inspection: createClusterInspection(transport) };
  } catch {
    // OpenSSL's error may quote the certificate or key.
    return { why: 'the registered certificate authority or certificate cannot be read' };
  }
}

function credentialOf(
  authentication: ClusterAuthentication,
): Credential | { readonly why: string } {
  switch (authentication.kind) {
    case 'bearer':
      return staticBearer(authentication.token);
    case 'client-certificate':
      return authentication;
    case 'none':
      return { why: 'no credential is registered' };
    case 'eks':
      return { why: 'only the functions’ own AWS role signs tokens that this cluster knows' };
    case 'bound-token':
      return { why: 'only the functions may open the sealed token' };
  }
}

/** Opens the user's own way into a cluster, or says why there is none. */
export type OpenWay = (registration: ClusterRegistration) => Promise<WayIn>;

/** Throws CommandError when the file or context that was named cannot be used. */
export async function kubeconfigWays(
  { kubeconfig, context: named }: OperatorOptions,
  { clock, environment }: Pick<CommandContext, 'clock' | 'environment'>,
): Promise<OpenWay> {
  const open = async (place: KubeconfigPlace): Promise<WayIn> => {
    const { transport } = await connectByKubeconfig({ ...place, clock });
    return { inspection: createClusterInspection(transport) };
  };
  const file = kubeconfig ?? defaultKubeconfig(environment);
  if (kubeconfig !== undefined || named !== undefined) {
    const way = await open({ file, ...defined({ context: named }) });
    return () => Promise.resolve(way);
  }
  // No cluster was named: only a context that leads to the registered server is that cluster's.
  return async ({ server }) => {
    try {
      const context = await findContext(file, server);
      if (context !== undefined) return await open({ file, context });
      return { why: `no context of ${nameOf(file)} has the server ${server}` };
    } catch (error) {
      if (error instanceof CommandError)
        return { why: `no --kubeconfig was passed; ${error.message}` };
      throw error;
    }
  };
}
