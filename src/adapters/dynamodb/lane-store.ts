/**
 * The node lane of a cluster over DynamoDB: one item beside META, compare-and-set on its version.
 *
 * Written as META's breaker is, so with the right that `reconcile` has for it. What cannot be read (damaged, or of a newer
 * release) counts as an empty lane under its version: a lane that nobody can read must not stop every rollout for ever.
 */
import * as v from 'valibot';
import type { Lane } from '../../core/lane/lane.ts';
import { nodeName, uid } from '../../core/model/identifiers.ts';
import type { LaneStore } from '../../ports/stores/view-store.ts';
import { decodeBody, encodeBody } from './item-codec.ts';
import { laneKey } from './item-keys.ts';
import type { ItemKey } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { Table } from './table.ts';

const momentSchema = v.pipe(v.number(), v.finite());
const EntrySchema = v.object({
  node: v.pipe(v.string(), v.transform(nodeName)),
  owner: v.pipe(v.string(), v.transform(uid)),
  namespace: v.string(),
  name: v.string(),
  pod: v.pipe(v.string(), v.transform(uid)),
  isDown: v.exactOptional(v.literal(true)),
  claimedAtMs: momentSchema,
  deadAtMs: momentSchema,
});
const BodySchema = v.object({
  entries: v.array(EntrySchema),
  waiters: v.array(v.object({ namespace: v.string(), name: v.string() })),
});

/** The lanes of one view table. */
export function createLaneStore(table: Table): LaneStore {
  return {
    readLane: (cluster) => {
      const key = laneKey(cluster);
      return table.getAs(key, ({ version, body }): Lane => ({
        ...bodyOf(key, body),
        version: Number(version),
      }));
    },
    writeLane: (cluster, { version, ...body }) => {
      const key = laneKey(cluster);
      const attributes = { version: version + 1, body: encodeBody(key, body) };
      return table.updateIf(key, attributes, ifVersion(version));
    },
  };
}

function bodyOf(key: ItemKey, body: unknown): Omit<Lane, 'version'> {
  try {
    const read = v.safeParse(BodySchema, decodeBody(key, body));
    if (read.success) return read.output;
  } catch {
    // Damaged: as if nothing were being replaced.
  }
  return { entries: [], waiters: [] };
}
