/**
 * Opens the ways into a cluster: what this process can have of them, and else why not.
 *
 * The registered endpoint is judged as it is for the functions, and its name is looked up anew for each
 * connection. Tokens of EKS and sealed ones are the functions' alone: nobody here signs or opens them.
 */
import { createClusterInspection } from '../../adapters/kubernetes/api/cluster-inspection.ts';
import { staticBearer } from '../../adapters/kubernetes/credentials/credential.ts';
import type { Credential } from '../../adapters/kubernetes/credentials/credential.ts';
import { openEgress } from '../../adapters/kubernetes/egress/egress.ts';
import type { EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../adapters/kubernetes/egress/endpoint.ts';
import { createTransport } from '../../adapters/kubernetes/transport/transport.ts';
import type { ClusterAuthentication, ClusterRegistration } from '../../core/model/registration.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { WayIn } from './ways-in.ts';

const REQUEST_TIMEOUT_MS = 8_000;

/** The way in by the registration. */
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
    ...(permit === undefined ? {} : { permit }),
  });
  if (opened.kind === 'egress-refused') return { why: 'the registered address is not permitted' };
  try {
    const transport = createTransport({
      endpoint: parsed.endpoint,
      lookup: opened.lookup,
      credential,
      clock,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      ...(caPem === undefined ? {} : { caPem }),
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
