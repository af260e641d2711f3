/**
 * Writes what an operator ordered into the log, after the order itself: what cannot be written is said, and changes nothing.
 */
import { loggedText } from '../../core/log/append-log.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { LogSubject, OrderEntry } from '../../core/model/log-entry.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LogStore } from '../../ports/stores/view-store.ts';

interface OrderLog {
  readonly view: Pick<LogStore, 'putLogItem'>;
  readonly random: Pick<Random, 'uniqueId'>;
}

/** Writes it; the answer is what to say where it could not be. Never rejects. */
export async function logOrder(
  { view, random }: OrderLog,
  about: { readonly cluster?: ClusterUid; readonly subject: LogSubject },
  entry: OrderEntry,
): Promise<string | undefined> {
  const { cluster, subject } = about;
  const { why, atMs } = entry;
  const entries = [why === undefined ? entry : { ...entry, why: loggedText(why) }];
  try {
    await view.putLogItem(cluster, { subject, entries, atMs, token: random.uniqueId() });
    return undefined;
  } catch (error) {
    const name = error instanceof Error ? error.name : String(error);
    return `! It stands, and has no entry in rollcall log (${name}).`;
  }
}
