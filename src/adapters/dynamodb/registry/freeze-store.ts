/**
 * What is frozen for the whole stack, over DynamoDB: one item, written by compare-and-set. Held to
 * a closed schema before each write and on every read: what cannot be read is an error, which
 * counts as frozen (protocol 13).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Freeze } from '../../../core/takeover/freeze.ts';
import { NO_FREEZE } from '../../../core/takeover/freeze.ts';
import type { FreezeStore } from '../../../ports/stores/freeze-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { ItemUnreadableError } from '../item-codec.ts';
import { FREEZE_KEY, STOP_KEY } from '../item-keys.ts';
import { parseFreeze, parseStopNote } from './freeze-schema.ts';
import { Table, ifVersion } from '../table.ts';
import type { DynamoStoreOptions } from '../table.ts';

/** The freeze of a registry's table. */
export function createDynamoFreezeStore(options: DynamoStoreOptions): FreezeStore {
  const table = new Table(options);
  return {
    readFreeze: async () => (await table.getAs(FREEZE_KEY, freezeIn)) ?? NO_FREEZE,
    writeFreeze: (freeze) => writeFreeze(table, freeze),
    readStop: () => table.getAs(STOP_KEY, ({ stop }) => parseStopNote(stop)),
    writeStop: async (note) => {
      const stop = note && parseStopNote(note);
      if (note !== undefined && stop === undefined) {
        throw new ItemUnreadableError(STOP_KEY, 'would be no note');
      }
      // Emptied, not removed: whoever may freeze may put.
      await table.put(STOP_KEY, defined({ stop }));
    },
  };
}

function freezeIn({ version, freeze }: StoredItem): Freeze {
  const parsed = parseFreeze({ ...(freeze as object), version });
  if (parsed === undefined) throw new ItemUnreadableError(FREEZE_KEY, 'is no freeze');
  return parsed;
}

function writeFreeze(table: Table, { version, ...rest }: Freeze): Promise<'written' | 'lost'> {
  const next = parseFreeze({ ...rest, version: version + 1 });
  if (next === undefined) throw new ItemUnreadableError(FREEZE_KEY, 'would be no freeze');
  const attributes = { freeze: rest, version: next.version };
  return table.putIf(FREEZE_KEY, attributes, ifVersion(version));
}
