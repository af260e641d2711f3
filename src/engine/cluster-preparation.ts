/**
 * What the engine does in a cluster before anything else, as the user who started it: learn the
 * cluster's identity, and make sure that the namespace of the watcher's Lease exists.
 *
 * Expected failures become an EngineRefusal that says what to do; nothing else is written.
 */
import type { Transport, TransportAnswer } from '../adapters/kubernetes/transport/transport.ts';
import { clusterUid } from '../core/model/identifiers.ts';
import type { ClusterUid } from '../core/model/identifiers.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import { EngineRefusal } from './engine-refusal.ts';

const SYSTEM_NAMESPACE = 'rollcall-system';
const STATUS_NOT_FOUND = 404;
const STATUS_CONFLICT = 409;

/** UID of the namespace kube-system: the identity of the cluster. */
export async function readClusterUid(transport: Transport, server: string): Promise<ClusterUid> {
  const answer = await transport.send({ method: 'GET', path: '/api/v1/namespaces/kube-system' });
  const body = requireAnswer(answer, { what: 'reading the namespace kube-system', server });
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  const value = isJsonObject(metadata) ? metadata['uid'] : undefined;
  if (typeof value !== 'string' || value === '') {
    throw new EngineRefusal({
      code: 'not-a-cluster',
      message: `${server} answered, but not as a Kubernetes API server does.`,
      remedy: 'Check the server address in the kubeconfig.',
    });
  }
  return clusterUid(value);
}

/** Creates the namespace rollcall-system if it does not exist. */
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
): unknown {
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
