/** Entries of effects that a table of the view holds, in states and in items of their own: each once, as the one that knows more. */
import type { EffectEntry, LogItem, StateLog } from '../../../src/core/model/log-entry.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';

/** One entry, as far as it tells what came of requests. */
export type StoredEntry = Pick<EffectEntry, 'parts'>;

/** What a table tells. */
export interface StoredEntries {
  /** By `cluster/uid effect run time`. */
  readonly entries: ReadonlyMap<string, StoredEntry>;
  /** `cluster/uid` of DaemonSets of which entries were only counted. */
  readonly leftOut: ReadonlySet<string>;
}

/** What tells entries apart, over all DaemonSets. */
export function identityOf(
  { cluster, uid }: { readonly cluster: string; readonly uid: string },
  { effect, run, atMs }: Pick<EffectEntry, 'effect' | 'run' | 'atMs'>,
): string {
  return `${cluster}/${uid} ${effect} ${String(run)} ${String(atMs)}`;
}

/** Reads a dump of the table (memory-view-store.ts). */
export function storedEntries(table: Readonly<Record<string, unknown>>): StoredEntries {
  const entries = new Map<string, StoredEntry>();
  const leftOut = new Set<string>();
  const add = (of: { readonly cluster: string; readonly uid: string }, log: StateLog): void => {
    if (log.leftOut !== undefined) leftOut.add(`${of.cluster}/${of.uid}`);
    for (const entry of log.entries) {
      if (entry.kind !== 'effect') continue;
      const identity = identityOf(of, entry);
      const known = entries.get(identity);
      if (known === undefined || isOpen(known)) entries.set(identity, entry);
    }
  };
  for (const [key, stored] of Object.entries(table)) {
    const [part, cluster = '', uid = ''] = key.split(' ');
    if (part === 'STATE') {
      const { log } = stored as DaemonSetState;
      if (log !== undefined) add({ cluster, uid }, log);
    }
    if (part !== 'LOG') continue;
    const item = stored as LogItem;
    if (item.subject.kind === 'daemon-set') add({ cluster, uid: item.subject.uid }, item);
  }
  return { entries, leftOut };
}

function isOpen({ parts }: StoredEntry): boolean {
  return parts.every(({ came }) => came === 'unknown');
}
