/** Who froze what and why, in the words of tables and documents. */
import type { FreezeNote } from '../../core/model/registration.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';
import { plainText } from './text-table.ts';

/** ` by ann since 2026-11-25T18:00:00.000Z (bad kernel)`; empty where nobody was noted. */
export function noteText({ by, why, atMs }: FreezeNote): string {
  if (by === '') return '';
  const reason = why === '' ? '' : ` (${plainText(why)})`;
  return ` by ${plainText(by)} since ${new Date(atMs).toISOString()}${reason}`;
}

/** A line for each freeze of the stack; none: nothing is frozen. */
export function freezeLines({ all, daemonSets }: Freeze): readonly string[] {
  return [
    ...(all === undefined ? [] : [`The whole stack is frozen${noteText(all)}.`]),
    ...Object.entries(daemonSets).map(([key, note]) => {
      return `The DaemonSet ${key} is frozen in every cluster${noteText(note)}.`;
    }),
  ];
}
