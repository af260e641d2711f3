/** When a message makes ingest ask for a snapshot, and how long it waits for the API server: at the end of its batch (L3, row 61). */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import * as snapshot from '../../clusters/ask-for-snapshot.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { TALK_MS, withinTalkBound } from '../process/background-work.ts';
import type { LossReason } from './result.ts';

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
  {
    clock,
    options,
    log,
    metrics,
  }: Pick<IngestDependencies, 'log' | 'metrics' | 'clock' | 'options'>,
): NotedRequest {
  const nowMs = clock.nowMs();
  const isByHash = reason === 'set-hash' || reason === 'snapshot-hash';
  if (isByHash && snapshot.isWithin(meta.hashSnapshotAtMs, options.hashSnapshotEveryMs, nowMs)) {
    if (since === 'before') return { meta, mayAsk: false };
    // Twice within the hour is no lost message any more: watcher and ingest disagree (protocol 19).
    metrics.count('IngestSetHashAlarms');
    log.error('set hashes differ again within the hour', { clusterUid: meta.clusterUid });
    return { meta, mayAsk: false };
  }
  const noted = snapshot.noteSnapshotRequest(meta, options.snapshotRequestEveryMs, nowMs);
  if (noted === undefined) return { meta, mayAsk: false };
  return { meta: isByHash ? { ...noted, hashSnapshotAtMs: nowMs } : noted, mayAsk: true };
}

const NOT_ANSWERED = { kind: 'unavailable', message: 'not answered in time' } as const;

/** Asks beside the batch that this belongs to; outside of one, the answer is waited for here. */
export async function askForSnapshot(
  registration: ClusterRegistration,
  dependencies: IngestDependencies,
): Promise<void> {
  const { background, connector, random, clock } = dependencies;
  const ask = async (withinMs: number): Promise<void> => {
    const asking = snapshot.askForSnapshot(registration, random.uniqueId(), connector);
    const answer = await withinTalkBound(asking, NOT_ANSWERED, { clock, withinMs });
    snapshot.noteSnapshotAnswer(registration, answer, dependencies);
  };
  if (background === undefined) await ask(TALK_MS);
  else background.begin(ask);
}
