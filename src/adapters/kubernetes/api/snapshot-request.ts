/**
 * The watcher's Lease, and the annotation that asks its holder for a snapshot (design 2).
 *
 * It is written under the version that was read: nothing is written to a Lease that another installation holds, or takes
 * just now (ADR 0024). A conflict is everyday, as the holder renews it: then both are repeated.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { isOfAnother } from '../../../core/takeover/installation.ts';
import type { LiveRead } from '../../../ports/cluster/cluster-access.ts';
import type { TransportAnswer, TransportRequest } from '../transport/transport.ts';
import { classifyRead } from './status-classifier.ts';

/** Where it is. */
export const WATCHER_LEASE = {
  collection: '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases',
  namespace: 'rollcall-system',
  name: 'rollcall-watcher',
};
const SNAPSHOT_ANNOTATION = 'rollcall.dev/snapshot-requested';
/** It waits for a batch of other clusters' records, and is made again anyway. */
const SNAPSHOT_REQUEST_TIMEOUT_MS = 3_000;
const HTTP_CONFLICT = 409;
/** A holder renews every ten seconds: it does not come between twice in a row. */
const TRIES = 3;

interface AskMeans {
  /** Whose watcher is asked; undefined: whoever holds the Lease. */
  readonly installation: string | undefined;
  readonly readLease: () => Promise<LiveRead<KubernetesObject>>;
  readonly send: (request: TransportRequest) => Promise<TransportAnswer>;
}

/** Asks. `missing`: there is no Lease, or it is another installation's. */
export async function askForSnapshot(
  requestId: string,
  means: AskMeans,
  tries: number = TRIES,
): Promise<LiveRead<JsonObject>> {
  const { installation, readLease, send } = means;
  const lease = await readLease();
  if (lease.kind !== 'found') return lease;
  if (installation !== undefined && isOfAnother(lease.object, installation))
    return { kind: 'missing' };
  const { resourceVersion } = lease.object.metadata;
  const annotations = { [SNAPSHOT_ANNOTATION]: requestId };
  const answer = await send({
    method: 'PATCH',
    path: `${WATCHER_LEASE.collection}/${WATCHER_LEASE.name}`,
    contentType: 'application/merge-patch+json',
    body: JSON.stringify({ metadata: { resourceVersion, annotations } }),
    timeoutMs: SNAPSHOT_REQUEST_TIMEOUT_MS,
  });
  if (answer.kind === 'answered' && answer.status === HTTP_CONFLICT && tries > 1)
    return askForSnapshot(requestId, means, tries - 1);
  return classifyRead(answer, WATCHER_LEASE.name, (body) =>
    isJsonObject(body) ? body : undefined,
  );
}
