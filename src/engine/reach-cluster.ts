/**
 * A cluster of the engine, reached under one of its identities, and what is done there before anything else: learning
 * its identity, and making sure that the namespace of the watcher's Lease exists. Nothing else is written.
 *
 * The engine takes addresses from a user's own kubeconfig; they are checked all the same. Expected failures become an
 * EngineRefusal that names the cluster and says what to do.
 */
import { staticBearer, type Credential } from '../adapters/kubernetes/credentials/token-source.ts';
import { parseEndpoint, type Endpoint } from '../adapters/kubernetes/egress/endpoint.ts';
import { HttpsTransport } from '../adapters/kubernetes/transport/transport.ts';
import type { Transport, TransportAnswer } from '../adapters/kubernetes/transport/transport.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { ClusterAuthentication } from '../core/model/registration.ts';
import { CLUSTER_UID_PATH, clusterUidIn, type ClusterUid } from '../core/model/identifiers.ts';
import { isJsonObject, type Json } from '@rollcall/base/json.ts';
import type { EngineCluster } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';

const SYSTEM_NAMESPACE = 'rollcall-system';
const STATUS_NOT_FOUND = 404;
const STATUS_CONFLICT = 409;

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
  return new HttpsTransport({
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

/** UID of the namespace kube-system: the identity of the cluster. */
export async function readClusterUid(transport: Transport, server: string): Promise<ClusterUid> {
  const answer = await transport.send({ method: 'GET', path: CLUSTER_UID_PATH });
  const body = requireAnswer(answer, { what: 'reading the namespace kube-system', server });
  const found = clusterUidIn(body);
  if (found !== undefined) return found;
  throw new EngineRefusal({
    code: 'not-a-cluster',
    message: `${server} answered, but not as a Kubernetes API server does.`,
    remedy: 'Check the server address in the kubeconfig.',
  });
}

export async function ensureSystemNamespace(transport: Transport, server: string): Promise<void> {
  const path = `/api/v1/namespaces/${SYSTEM_NAMESPACE}`;
  const answer = await transport.send({ method: 'GET', path });
  if (answer.kind === 'answered' && answer.status !== STATUS_NOT_FOUND) {
    requireAnswer(answer, { what: `reading the namespace ${SYSTEM_NAMESPACE}`, server });
    return;
  }
  const created = await transport.send({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: SYSTEM_NAMESPACE },
    }),
  });
  if (created.kind === 'answered' && created.status === STATUS_CONFLICT) return;
  requireAnswer(created, { what: `creating the namespace ${SYSTEM_NAMESPACE}`, server });
}

function requireAnswer(
  answer: TransportAnswer,
  context: { readonly what: string; readonly server: string },
): Json | undefined {
  if (answer.kind !== 'answered') {
    throw new EngineRefusal({
      code: 'unreachable',
      message: `${context.server} cannot be reached: ${answer.message}.`,
      remedy: 'Check that the cluster runs and that this machine can reach it.',
    });
  }
  if (answer.status >= 400) {
    const text = isJsonObject(answer.body) ? answer.body['message'] : undefined;
    const detail = typeof text === 'string' ? text : `HTTP ${String(answer.status)}`;
    throw new EngineRefusal({
      code: 'not-allowed',
      message: `${context.what} was refused: ${detail}.`,
      remedy:
        'Use a kubeconfig whose user may do that, or have an administrator apply infra/watcher/rbac.yaml.',
    });
  }
  return answer.body;
}
