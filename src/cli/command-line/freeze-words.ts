/**
 * Words of tables and documents for freezes, their authors and reasons, and for other obstacles.
 *
 * The lines above an answer are outages (core/status/outages.ts); a freeze is one of them.
 */
import type { FreezeNote } from '../../core/model/registration.ts';
import { outageLine, type Outage } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import { toned, type Line } from './colour.ts';
import { plainText } from './text-table.ts';

/** ` by ann since 2026-11-25T18:00:00.000Z (bad kernel)`; empty without an author. */
export function noteText({ by, why, atMs }: FreezeNote): string {
  if (by === '') return '';
  const reason = why === '' ? '' : ` (${plainText(why)})`;
  return ` by ${plainText(by)} since ${new Date(atMs).toISOString()}${reason}`;
}

/** A line for each freeze of the stack; none: nothing is frozen. */
export function freezeLines({ all, daemonSets }: Omit<Freeze, 'version'>): readonly string[] {
  return [
    ...(all === undefined ? [] : [`The whole stack is frozen${noteText(all)}.`]),
    ...Object.entries(daemonSets).map(([key, note]) => {
      return `The DaemonSet ${key} is frozen in every cluster${noteText(note)}.`;
    }),
  ];
}

/** The lines above an answer. */
export function outageLines(outages: readonly Outage[]): readonly Line[] {
  return outages.map((outage) => {
    // An operator froze it, and an operator goes on.
    const tone = outage.code === 'frozen' ? 'waiting' : 'failing';
    return [toned(plainText(outageLine(outage)), tone)];
  });
}

/** Freezes of the whole stack; an invalid item counts as a freeze of everything. */
export async function readFreezeIn({
  freezes,
}: {
  readonly freezes: Pick<FreezeStore, 'readFreeze'>;
}): Promise<Freeze | 'unreadable'> {
  const read = await orUnreadable(() => freezes.readFreeze());
  return read.kind === 'read' ? read.value : read.kind;
}
