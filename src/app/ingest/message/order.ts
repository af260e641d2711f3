/**
 * Where a message stands against what was applied: the first question asked of each (protocol 14).
 *
 * Era is ingest's own count; within it epochs order watchers, and seq orders messages. Messages of an
 * epoch form a chain without gaps: everything that does not continue it means a loss, a duplicate or
 * another watcher. Pure.
 */
import { compareResourceVersions } from '../../../core/model/identifiers.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { WatcherHeader } from '../../../core/model/watcher-message.ts';

/**
 * next: continues the chain. skipped: something between is missing. duplicate: applied before.
 * newer-epoch: another watcher took the Lease. older-epoch: a lower epoch, or the same one under
 * another incarnation; only a live read of the Lease tells a zombie from a restored etcd.
 */
export type MessageOrder = 'next' | 'skipped' | 'duplicate' | 'newer-epoch' | 'older-epoch';

/** Where a message with this header stands. */
export function orderOf(
  meta: Pick<ClusterMeta, 'epoch' | 'incarnation' | 'seq'>,
  header: Pick<WatcherHeader, 'epoch' | 'incarnation' | 'seq'>,
): MessageOrder {
  const difference = compareResourceVersions(header.epoch, meta.epoch);
  if (difference > 0) return 'newer-epoch';
  if (difference < 0 || header.incarnation !== meta.incarnation) return 'older-epoch';
  if (header.seq <= meta.seq) return 'duplicate';
  return header.seq === meta.seq + 1 ? 'next' : 'skipped';
}
