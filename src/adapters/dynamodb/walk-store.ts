/**
 * The walk of `resync` as one item of the view table, compare-and-set on its version.
 *
 * A body that cannot be read (damaged, or of a newer release) counts as no walk, under the version that
 * stands beside it, so that the next walk replaces it: a memory of turns must not end them.
 */
import * as v from 'valibot';
import type { WalkStore } from '../../ports/stores/view-store.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import type { StoredItem } from './batched-reader.ts';
import { decodeBody, encodeBody } from './item-codec.ts';
import { WALK_KEY } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { Table } from './table.ts';

const momentSchema = v.pipe(v.number(), v.finite());
const owedSchema = v.array(
  v.looseObject({ cluster: v.pipe(v.string(), v.transform(clusterId)), sinceMs: momentSchema }),
);
const WalkSchema = v.looseObject({
  fromMs: momentSchema,
  untilMs: momentSchema,
  isOver: v.boolean(),
  cursor: v.exactOptional(v.string()),
  heldUntilMs: v.exactOptional(momentSchema),
  owed: owedSchema,
  failed: owedSchema,
});

/** The walk of one view table. */
export function createWalkStore(table: Table): WalkStore {
  return {
    readWalk: () => table.getAs(WALK_KEY, walkOf),
    writeWalk: ({ version, ...body }) => {
      const attributes = { version: version + 1, body: encodeBody(WALK_KEY, body) };
      return table.updateIf(WALK_KEY, attributes, ifVersion(version));
    },
  };
}

/** Unreadable: one that is never over, and so is replaced by a first walk (core/resync-walk.ts). */
function walkOf(item: StoredItem): ResyncWalk {
  const version = Number(item['version']);
  const body = v.safeParse(WalkSchema, bodyOf(item));
  if (body.success) return { ...body.output, version };
  return { version, fromMs: 0, untilMs: Infinity, isOver: false, owed: [], failed: [] };
}

function bodyOf(item: StoredItem): unknown {
  try {
    return decodeBody(WALK_KEY, item['body']);
  } catch {
    // Only a memory of turns: what is damaged is forgotten.
    return undefined;
  }
}
