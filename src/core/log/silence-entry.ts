/** The entry of a watcher that is heard again after a silence. */
import type { SilenceEntry } from '../model/log-entry.ts';
import type { ClusterMeta } from '../model/view-items.ts';
import { SILENT_AFTER_MS } from '../status/outages.ts';

/**
 * What a message that was sent at `atMs` tells after what META knew before it; undefined: it was not missed. A watcher on standby had
 * said so.
 */
export function silenceEntry(
  before: Pick<ClusterMeta, 'lastSentAtMs' | 'watcherStandsBy'> | undefined,
  atMs: number,
): SilenceEntry | undefined {
  if (before === undefined || before.watcherStandsBy !== undefined) return undefined;
  const { lastSentAtMs: sinceMs } = before;
  return atMs - sinceMs > SILENT_AFTER_MS ? { kind: 'silence', atMs, sinceMs } : undefined;
}
