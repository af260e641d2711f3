/**
 * Asks a cluster's watcher for a snapshot, by the annotation on its Lease: the way back after a loss (protocol 17).
 *
 * META limits the rate; the caller writes it first. A request that fails is only logged: `resync` repeats it while the
 * view is incomplete.
 */
import { isOpen } from '../../core/model/breaker.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ClusterConnector, ConnectRefusal } from '../../ports/cluster/cluster-access.ts';
import type { ProcessPorts } from '../../ports/process.ts';

/** What came of a request. */
export type SnapshotAnswer =
  | { readonly kind: 'asked' | 'no-credential' }
  | { readonly kind: 'unavailable'; readonly message: string };

/** True of a time that passed less than `intervalMs` ago; a clock that was ahead noted no such time. */
export function isWithin(sinceMs: number | undefined, intervalMs: number, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs < intervalMs && nowMs >= sinceMs;
}

/** META with the request noted; undefined: the watcher was asked within `everyMs`, or the cluster's breaker is open. */
export function noteSnapshotRequest(
  meta: ClusterMeta,
  everyMs: number,
  nowMs: number,
): ClusterMeta | undefined {
  if (isWithin(meta.snapshotRequestedAtMs, everyMs, nowMs)) return undefined;
  return isOpen(meta.breaker, nowMs) ? undefined : { ...meta, snapshotRequestedAtMs: nowMs };
}

/** Writes the request into the watcher's Lease. A watcher answers each id once. */
export async function askForSnapshot(
  registration: ClusterRegistration,
  requestId: string,
  connector: ClusterConnector,
): Promise<SnapshotAnswer> {
  const connection = await connector.connect(registration);
  if (connection.kind === 'refused') {
    const { refusal } = connection;
    if (refusal.kind === 'no-credential') return { kind: 'no-credential' };
    return { kind: 'unavailable', message: describeRefusal(refusal) };
  }
  const answer = await connection.access.requestSnapshot(requestId);
  if (answer.kind === 'found') return { kind: 'asked' };
  const message =
    answer.kind === 'missing' ? 'no watcher of this installation holds the Lease' : answer.message;
  return { kind: 'unavailable', message };
}

/** Counts and logs what came of a request. */
export function noteSnapshotAnswer(
  { id }: ClusterRegistration,
  answer: SnapshotAnswer,
  { log, metrics }: Pick<ProcessPorts, 'log' | 'metrics'>,
): void {
  metrics.count('SnapshotRequests', { outcome: answer.kind });
  const fields = { cluster: id, outcome: answer.kind };
  if (answer.kind === 'unavailable') {
    log.warn('a snapshot could not be asked for', { ...fields, detail: answer.message });
  } else log.info('a snapshot is needed', fields);
}

function describeRefusal(refusal: Exclude<ConnectRefusal, { kind: 'no-credential' }>): string {
  switch (refusal.kind) {
    case 'unavailable':
      return refusal.message;
    case 'wrong-cluster':
      return 'the cluster has another UID';
    case 'no-token':
      return `there is no usable token for the cluster: ${refusal.fault}`;
    case 'egress-refused':
      return `the endpoint is not permitted: ${refusal.field} (${refusal.reason})`;
  }
}
