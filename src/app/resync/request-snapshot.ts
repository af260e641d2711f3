/**
 * Asks the watcher of a cluster for a snapshot while its view is not whole (protocol 17).
 *
 * META keeps when, so that schedules that overlap, or fire often, ask at most once per interval. An API
 * server that does not answer is asked when it does: nobody waits for it here (protocol 23).
 */
import { isOpen } from '../../core/model/breaker.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ResyncDependencies, Tally } from './dependencies.ts';

interface Asked {
  readonly registration: ClusterRegistration;
  readonly tally: Tally;
}

/** Begins to ask, unless it was asked lately. */
export async function requestSnapshot(
  { registration, tally, meta }: Asked & { readonly meta: ClusterMeta },
  dependencies: ResyncDependencies,
): Promise<void> {
  const { view, clock, random, options } = dependencies;
  const nowMs = clock.nowMs();
  const askedAtMs = meta.snapshotRequestedAtMs ?? -Infinity;
  if (isOpen(meta.breaker, nowMs)) return;
  if (registration.mode === 'observe' || nowMs - askedAtMs < options.snapshotRequestEveryMs) {
    return;
  }
  const noted = await view.writeMeta({ ...meta, snapshotRequestedAtMs: nowMs });
  // Lost: a message arrived just now, and the next walk looks again.
  if (noted === 'lost') return;
  beginAsking({ registration, tally }, `resync-${random.uniqueId()}`, dependencies);
}

/**
 * The same for a cluster without META: nothing was ever heard of it, or its view was lost. There is nowhere to keep when
 * it was asked, so the id stands for the interval: a watcher answers each id once, however often it is written.
 */
export function requestFirstSnapshot(
  { registration, tally }: Asked,
  dependencies: ResyncDependencies,
): void {
  const { clock, options } = dependencies;
  if (registration.mode === 'observe' || !tally.asking.hasRoom) return;
  const interval = Math.floor(clock.nowMs() / options.snapshotRequestEveryMs);
  beginAsking({ registration, tally }, `resync-unheard-${interval}`, dependencies);
}

function beginAsking(
  { registration, tally }: Asked,
  requestId: string,
  on: ResyncDependencies,
): void {
  const ask = askForSnapshot(registration, requestId, on).then(
    (isAsked) => {
      if (isAsked) tally.snapshotRequests += 1;
    },
    (error: unknown) => {
      on.log.warn('no snapshot could be asked for', { cluster: registration.id }, error);
    },
  );
  tally.asking.begin(ask);
}

/** Writes the request into the watcher's Lease; false when it was not taken. */
async function askForSnapshot(
  registration: ClusterRegistration,
  requestId: string,
  dependencies: ResyncDependencies,
): Promise<boolean> {
  const { connector, log, metrics } = dependencies;
  const connected = await connector.connect(registration);
  if (connected.kind === 'refused') {
    metrics.count('ResyncSnapshotRequests', { outcome: 'refused' });
    const fields = { cluster: registration.id, code: connected.refusal.kind };
    log.warn('no snapshot could be asked for', fields);
    return false;
  }
  const answer = await connected.access.requestSnapshot(requestId);
  const outcome = answer.kind === 'found' ? 'sent' : 'failed';
  metrics.count('ResyncSnapshotRequests', { outcome });
  return outcome === 'sent';
}
