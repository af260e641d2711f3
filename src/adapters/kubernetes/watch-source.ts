/**
 * WatchSource over HTTPS: list pages, watch streams and the Lease of one cluster, for the watcher.
 *
 * Moves bytes and classifies failures; resuming, relisting and back-off are the watcher's own. Lists
 * and Lease go through the pooled transport, streams through connections of their own. Raw JSON
 * throughout; one line of a stream is parsed once.
 */
import { clusterUid, isResourceVersion } from '../../core/model/identifiers.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { KubernetesObject } from '../../core/model/kubernetes.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import type {
  LeaseWrite,
  ListPage,
  SourceAnswer,
  SourceFailure,
  WatchOptions,
  WatchSource,
} from '../../ports/watch-source.ts';
import { readStatus } from './api-status.ts';
import type { Transport, TransportAnswer } from './transport.ts';
import { classifyStatus } from './watch-status.ts';
import { openWatchStream } from './watch-stream.ts';
import type { WatchConnection } from './watch-stream.ts';

const PATHS: Readonly<Record<WatchedKind, string>> = {
  Node: '/api/v1/nodes',
  Pod: '/api/v1/pods',
  DaemonSet: '/apis/apps/v1/daemonsets',
  ControllerRevision: '/apis/apps/v1/controllerrevisions',
};
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
const LEASE = `${LEASES}/rollcall-watcher`;

/** What a source speaks through. */
export interface WatchSourceOptions {
  readonly transport: Transport;
  readonly connection: WatchConnection;
}

/** A cluster as its watcher sees it. */
export function createWatchSource({ transport, connection }: WatchSourceOptions): WatchSource {
  return {
    getClusterUid: async () => {
      const path = '/api/v1/namespaces/kube-system';
      return readClusterUid(await transport.send({ method: 'GET', path }));
    },
    listPage: async (kind, { limit, continueToken }) => {
      const query = new URLSearchParams({ limit: String(limit) });
      if (continueToken !== undefined) query.set('continue', continueToken);
      const path = `${PATHS[kind]}?${query.toString()}`;
      return readListPage(await transport.send({ method: 'GET', path }));
    },
    watch: (kind, options) =>
      openWatchStream(connection, `${PATHS[kind]}?${watchQuery(options)}`, options),
    readLease: async () => readLease(await transport.send({ method: 'GET', path: LEASE })),
    writeLease: (lease) => writeLease(transport, lease),
  };
}

function watchQuery(options: WatchOptions): string {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(options.timeoutSeconds),
  });
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion);
  if (options.sendInitialEvents) {
    query.set('sendInitialEvents', 'true');
    query.set('resourceVersionMatch', 'NotOlderThan');
  }
  return query.toString();
}

function failureOf(answer: TransportAnswer): SourceFailure {
  if (answer.kind !== 'answered') return { kind: 'unavailable', message: answer.message };
  const status = readStatus(answer.body);
  const retryAfterMs = answer.retryAfterMs ?? status?.retryAfterMs;
  return {
    kind: classifyStatus(answer.status),
    message: status?.message ?? `HTTP ${String(answer.status)}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function isSuccess(
  answer: TransportAnswer,
): answer is Extract<TransportAnswer, { readonly kind: 'answered' }> {
  return answer.kind === 'answered' && answer.status < 300;
}

function readClusterUid(answer: TransportAnswer): SourceAnswer<ClusterUid> {
  if (!isSuccess(answer)) return { kind: 'failed', failure: failureOf(answer) };
  const metadata = isJsonObject(answer.body) ? answer.body['metadata'] : undefined;
  const value = isJsonObject(metadata) ? metadata['uid'] : undefined;
  if (typeof value === 'string' && value !== '') return { kind: 'ok', value: clusterUid(value) };
  return { kind: 'failed', failure: { kind: 'unavailable', message: 'no UID in the answer' } };
}

function readListPage(answer: TransportAnswer): SourceAnswer<ListPage> {
  if (!isSuccess(answer)) return { kind: 'failed', failure: failureOf(answer) };
  const { body } = answer;
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  const items = isJsonObject(body) ? body['items'] : undefined;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (!Array.isArray(items) || !isJsonObject(metadata) || !isResourceVersion(version)) {
    return { kind: 'failed', failure: { kind: 'unavailable', message: 'the answer is no list' } };
  }
  const continueToken = metadata['continue'];
  return {
    kind: 'ok',
    value: {
      resourceVersion: version,
      items: items as unknown as readonly KubernetesObject[], // projected, and judged, one by one
      ...(typeof continueToken === 'string' && continueToken !== '' ? { continueToken } : {}),
    },
  };
}

function readLease(answer: TransportAnswer): SourceAnswer<KubernetesObject | undefined> {
  if (answer.kind === 'answered' && answer.status === 404) return { kind: 'ok', value: undefined };
  if (!isSuccess(answer)) return { kind: 'failed', failure: failureOf(answer) };
  const lease = leaseObject(answer);
  if (lease !== undefined) return { kind: 'ok', value: lease };
  return { kind: 'failed', failure: { kind: 'unavailable', message: 'the answer is no Lease' } };
}

function leaseObject(answer: TransportAnswer): KubernetesObject | undefined {
  if (answer.kind !== 'answered' || !isJsonObject(answer.body)) return undefined;
  return isJsonObject(answer.body['metadata'])
    ? (answer.body as unknown as KubernetesObject) // checked above as far as it is read
    : undefined;
}

async function writeLease(transport: Transport, lease: KubernetesObject): Promise<LeaseWrite> {
  // Without a version the Lease is not there yet: only then may it be created.
  const version: unknown = lease.metadata.resourceVersion;
  const isCreate = !isResourceVersion(version);
  const answer = await transport.send({
    method: isCreate ? 'POST' : 'PUT',
    path: isCreate ? LEASES : LEASE,
    body: JSON.stringify(lease),
  });
  if (answer.kind === 'ambiguous') return { kind: 'ambiguous', message: answer.message };
  if (answer.kind === 'answered') {
    // A Lease that vanished between read and replace is a conflict too: read again.
    if (answer.status === 409 || (!isCreate && answer.status === 404)) return { kind: 'conflict' };
    if (answer.status === 500 || answer.status === 504) {
      return { kind: 'ambiguous', message: `HTTP ${String(answer.status)}` };
    }
    const written = answer.status < 300 ? leaseObject(answer) : undefined;
    if (written !== undefined) return { kind: 'written', lease: written };
  }
  return { kind: 'failed', failure: failureOf(answer) };
}
