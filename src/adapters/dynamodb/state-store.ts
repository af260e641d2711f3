/**
 * The state of a DaemonSet over DynamoDB.
 *
 * One item, compare-and-set on its version: the loser of that write has done nothing yet (design 3, step 6).
 */
import { STATE_SCHEMA } from '../../core/model/state.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import type { StateStore } from '../../ports/stores/view-store.ts';
import { ItemUnreadableError, decodeBody, encodeBody } from './item-codec.ts';
import { daemonSetKey } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { Table } from './table.ts';

/** The state items of one view table. */
export function createStateStore(table: Table): StateStore {
  return {
    readState: (ref) =>
      table.getAs(daemonSetKey(ref, 'STATE'), (item, key) => {
        const state = decodeBody(key, item['body']) as DaemonSetState;
        if (state.schema > STATE_SCHEMA) {
          throw new ItemUnreadableError(key, `state schema ${state.schema} is of a newer release`);
        }
        return { ...state, version: item['version'] as number };
      }),
    writeState: async (ref, { version, ...rest }) => {
      const key = daemonSetKey(ref, 'STATE');
      const attributes = { version: version + 1, body: encodeBody(key, rest) };
      return table.replaceIf(key, attributes, ifVersion(version));
    },
  };
}
