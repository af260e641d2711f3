/**
 * The walk of `resync` as one item of the view table, compare-and-set on its version.
 *
 * A body that cannot be read (damaged, or of a newer release) counts as no walk, under the version that
 * stands beside it, so that the next walk replaces it: a memory of turns must not end them.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import type { WalkStore } from '../../ports/stores/walk-store.ts';
import type { StoredItem } from './batched-reader.ts';
import { decodeBody, encodeBody } from './item-codec.ts';
import { WALK_KEY, formatItemKey } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { Table } from './table.ts';

/** The walk of one view table. */
export function createWalkStore(table: Table): WalkStore {
  return {
    readWalk: async () => {
      const item = await table.get(WALK_KEY);
      return item === undefined ? undefined : walkOf(item);
    },
    writeWalk: ({ version, ...body }) =>
      table.updateIf(
        WALK_KEY,
        { version: version + 1, body: encodeBody(formatItemKey(WALK_KEY), body) },
        ifVersion(version),
      ),
  };
}

/** Unreadable: one that is never over, and so is replaced by a first walk (core/resync-walk.ts). */
function walkOf(item: StoredItem): ResyncWalk {
  const version = Number(item['version']);
  const body = bodyOf(item);
  if (isWalk(body)) return { ...body, version };
  return { version, fromMs: 0, untilMs: Infinity, isOver: false, owed: [], failed: [] };
}

function bodyOf(item: StoredItem): unknown {
  try {
    return decodeBody(formatItemKey(WALK_KEY), item['body']);
  } catch {
    // Only a memory of turns: what is damaged is forgotten.
    return undefined;
  }
}

function isWalk(body: unknown): body is Omit<ResyncWalk, 'version'> {
  if (!isJsonObject(body)) return false;
  const { fromMs, untilMs, isOver, cursor, heldUntilMs, owed, failed } = body;
  return (
    Number.isFinite(fromMs) &&
    Number.isFinite(untilMs) &&
    typeof isOver === 'boolean' &&
    (cursor === undefined || typeof cursor === 'string') &&
    (heldUntilMs === undefined || Number.isFinite(heldUntilMs)) &&
    areOwed(owed) &&
    areOwed(failed)
  );
}

function areOwed(turns: unknown): boolean {
  return (
    Array.isArray(turns) &&
    turns.every(
      (turn) =>
        isJsonObject(turn) &&
        typeof turn['cluster'] === 'string' &&
        Number.isFinite(turn['sinceMs']),
    )
  );
}
