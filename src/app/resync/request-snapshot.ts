/**
 * Asks the watcher of a cluster for a snapshot while its view is not whole (protocol 17).
 *
 * META keeps when, so that schedules that overlap, or fire often, ask at most once per interval. An API
 * server that does not answer is asked when it does: nobody waits for it here (protocol 23).
 */
import { isOpen } from '../../core/breaker.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ResyncDependencies } from './dependencies.ts';
import type { Tally } from './tally.ts';

/** Begins to ask, unless it was asked lately. */
export async function requestSnapshot(
  scope: {
    readonly registration: ClusterRegistration;
    readonly meta: ClusterMeta;
    readonly tally: Tally;
  },
  dependencies: ResyncDependencies,
): Promise<void> {
  const { registration, meta, tally } = scope;
  const { view, clock, log, options } = dependencies;
  const nowMs = clock.nowMs();
  const askedAtMs = meta.snapshotRequestedAtMs ?? -Infinity;
  if (isOpen(meta.breaker, nowMs)) return;
  if (registration.mode === 'observe' || nowMs - askedAtMs < options.snapshotRequestEveryMs) {
    return;
  }
  const noted = await view.writeMeta({ ...meta, snapshotRequestedAtMs: nowMs });
  // Lost: a message arrived just now, and the next walk looks again.
  if (noted === 'lost') return;
  const ask = askForSnapshot(registration, dependencies).then(
    (isAsked) => {
      if (isAsked) tally.snapshotRequests += 1;
    },
    (error: unknown) => {
      log.warn('no snapshot could be asked for', { cluster: registration.id }, error);
    },
  );
  tally.asking.begin(ask);
}

/** Writes the request into the watcher's Lease; false when it was not taken. */
async function askForSnapshot(
  registration: ClusterRegistration,
  dependencies: ResyncDependencies,
): Promise<boolean> {
  const { connector, random, log, metrics } = dependencies;
  const connected = await connector.connect(registration);
  if (connected.kind === 'refused') {
    metrics.count('ResyncSnapshotRequests', { outcome: 'refused' });
    const fields = { cluster: registration.id, code: connected.refusal.kind };
    log.warn('no snapshot could be asked for', fields);
    return false;
  }
  const answer = await connected.access.requestSnapshot(`resync-${random.uniqueId()}`);
  const outcome = answer.kind === 'found' ? 'sent' : 'failed';
  metrics.count('ResyncSnapshotRequests', { outcome });
  return outcome === 'sent';
}
