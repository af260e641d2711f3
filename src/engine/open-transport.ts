/**
 * Opens a cluster of the engine under one of its identities.
 *
 * The engine takes addresses from a user's own kubeconfig; they are checked all the same, so that a
 * refusal names the cluster and says what to do.
 */
import { staticBearer } from '../adapters/kubernetes/credentials/credential.ts';
import type { Credential } from '../adapters/kubernetes/credentials/credential.ts';
import { parseEndpoint } from '../adapters/kubernetes/egress/endpoint.ts';
import type { Endpoint } from '../adapters/kubernetes/egress/endpoint.ts';
import { createTransport } from '../adapters/kubernetes/transport/transport.ts';
import type { Transport } from '../adapters/kubernetes/transport/transport.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { ClusterAuthentication } from '../core/model/registration.ts';
import type { EngineCluster } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';

/** The cluster's checked address. Throws EngineRefusal. */
export function requireEndpoint(cluster: EngineCluster): Endpoint {
  const parsed = parseEndpoint(cluster.server);
  if (parsed.kind === 'endpoint') return parsed.endpoint;
  throw new EngineRefusal({
    code: 'endpoint-invalid',
    message: `The cluster ${cluster.id} cannot be reached as given: ${parsed.message}.`,
    remedy: 'Check the server address in the kubeconfig.',
  });
}

/** A transport to the cluster. Throws EngineRefusal when its address is unusable. */
export function openTransport(
  cluster: EngineCluster,
  authentication: ClusterAuthentication,
): Transport {
  return createTransport({
    endpoint: requireEndpoint(cluster),
    credential: credentialOf(authentication),
    clock: createSystemClock(),
    ...(cluster.caPem === undefined ? {} : { caPem: cluster.caPem }),
  });
}

/** The credential that an authentication resolves to; EKS and sealed tokens are not for the engine. */
export function credentialOf(authentication: ClusterAuthentication): Credential {
  switch (authentication.kind) {
    case 'bearer':
      return staticBearer(authentication.token);
    case 'client-certificate':
      return authentication;
    case 'none':
    case 'eks':
    case 'bound-token':
      return { kind: 'none' };
  }
}
