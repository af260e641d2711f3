/**
 * Asking a cluster's watcher for a snapshot: the way back after a loss (protocol 17), by the annotation on its Lease.
 *
 * Limited in rate by META, which the caller writes first. Failing to ask fails nothing: `resync` repeats it while the
 * view is incomplete. Nobody is asked whose breaker is open, and no record waits for an answer: the batch does at its
 * end (L3, row 61).
 */
import { isOpen } from '../../../core/model/breaker.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { TALK_MS, withinTalkBound } from '../process/background-work.ts';
import type { LossReason } from './result.ts';

type RequestDependencies = Pick<
  IngestDependencies,
  'connector' | 'random' | 'log' | 'metrics' | 'clock' | 'options'
>;

/** META with the request noted, and whether it may be sent. */
interface NotedRequest {
  readonly meta: ClusterMeta;
  readonly mayAsk: boolean;
}

/** Why a snapshot is needed: a loss noticed now, or one that the view still suffers from. */
interface SnapshotNeed {
  readonly reason: LossReason;
  readonly since: 'now' | 'before';
}

/** Notes a request in META unless one was sent lately; set hashes have a longer interval. */
export function noteSnapshotRequest(
  meta: ClusterMeta,
  { reason, since }: SnapshotNeed,
  { clock, options, log, metrics }: RequestDependencies,
): NotedRequest {
  const nowMs = clock.nowMs();
  const isByHash = reason === 'set-hash' || reason === 'snapshot-hash';
  const isWithin = (sinceMs: number | undefined, intervalMs: number): boolean =>
    sinceMs !== undefined && nowMs - sinceMs < intervalMs && nowMs >= sinceMs;
  if (isByHash && isWithin(meta.hashSnapshotAtMs, options.hashSnapshotEveryMs)) {
    if (since === 'before') return { meta, mayAsk: false };
    // Twice within the hour is no lost message any more: watcher and ingest disagree (protocol 19).
    metrics.count('IngestSetHashAlarms');
    log.error('set hashes differ again within the hour', { clusterUid: meta.clusterUid });
    return { meta, mayAsk: false };
  }
  if (isWithin(meta.snapshotRequestedAtMs, options.snapshotRequestEveryMs)) {
    return { meta, mayAsk: false };
  }
  // Not noted as asked either: `resync` asks as soon as it answers again.
  if (isOpen(meta.breaker, nowMs)) return { meta, mayAsk: false };
  const noted = { ...meta, snapshotRequestedAtMs: nowMs };
  return { meta: isByHash ? { ...noted, hashSnapshotAtMs: nowMs } : noted, mayAsk: true };
}

/** Asks beside the batch that this belongs to; outside of one, the answer is waited for here. */
export async function askForSnapshot(
  registration: ClusterRegistration,
  dependencies: RequestDependencies & Pick<IngestDependencies, 'background'>,
): Promise<void> {
  const { background } = dependencies;
  if (background === undefined) await request(registration, dependencies);
  else background.begin((withinMs) => request(registration, dependencies, withinMs));
}

/** Writes the request into the watcher's Lease. Never rejects for an expected outcome. */
async function request(
  registration: ClusterRegistration,
  dependencies: RequestDependencies,
  withinMs = TALK_MS,
): Promise<void> {
  const { connector, random, log, metrics, clock } = dependencies;
  const asking = ask(registration, connector, random.uniqueId());
  const result = await withinTalkBound(asking, NOT_ANSWERED, { clock, withinMs });
  metrics.count('SnapshotRequests', { outcome: result.kind });
  const fields = { cluster: registration.id, outcome: result.kind };
  if (result.kind === 'unavailable') {
    log.warn('a snapshot could not be asked for', { ...fields, detail: result.message });
  } else log.info('a snapshot is needed', fields);
}

type Asked =
  | { readonly kind: 'asked' | 'no-credential' }
  | { readonly kind: 'unavailable'; readonly message: string };

const NOT_ANSWERED: Asked = { kind: 'unavailable', message: 'not answered in time' };

async function ask(
  registration: ClusterRegistration,
  connector: IngestDependencies['connector'],
  requestId: string,
): Promise<Asked> {
  if (registration.authentication.kind === 'none') return { kind: 'no-credential' };
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
