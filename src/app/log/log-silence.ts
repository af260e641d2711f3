/** Notes that a watcher is heard again. Never rejects: an entry that cannot be written holds up no message. */
import type { Log } from '@rollcall/base/ports/log.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { SilenceEntry } from '../../core/model/log-entry.ts';
import type { LogStore } from '../../ports/stores/view-store.ts';

/** Writes it; `token` is that of the message, so one that comes twice writes the same. */
export async function logSilence(
  { view, log }: { readonly view: Pick<LogStore, 'putLogItem'>; readonly log: Log },
  of: { readonly cluster: ClusterUid; readonly token: string },
  entry: SilenceEntry,
): Promise<void> {
  const { cluster, token } = of;
  const item = { subject: { kind: 'cluster' }, entries: [entry], atMs: entry.atMs, token } as const;
  try {
    await view.putLogItem(cluster, item);
  } catch (error) {
    log.warn('the end of a silence has no entry in the log', { cluster, error: String(error) });
  }
}
