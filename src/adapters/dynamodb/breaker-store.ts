/**
 * What may be lost: the circuit breaker of a cluster, in its META item, and the walk of `resync`.
 * Both are compare-and-set on a version beside them; the breaker has a writer token of its own,
 * since `ingest` writes the same item. What cannot be read counts as none, and the next one
 * replaces it.
 */
import * as v from 'valibot';
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { BreakerStore, WalkStore } from '../../ports/stores/view-store.ts';
import type { StoredItem } from './batched-reader.ts';
import { decodeBody, encodeBody } from './item-codec.ts';
import { WALK_KEY, metaKey } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { Table } from './table.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const momentSchema = v.pipe(v.number(), v.finite());
const noteSchema = v.object({ sinceMs: momentSchema, atMs: momentSchema });
const BreakerSchema = v.objectWithRest(
  {
    failures: countSchema,
    openings: countSchema,
    open: v.exactOptional(v.object({ untilMs: momentSchema, delayMs: momentSchema })),
    noted: v.exactOptional(
      v.object({
        forbidden: v.exactOptional(noteSchema),
        'no-token': v.exactOptional(noteSchema),
        'egress-refused': v.exactOptional(noteSchema),
      }),
    ),
  },
  momentSchema,
);

/** Breakers of one view table. */
export function createBreakerStore(table: Table): BreakerStore {
  return {
    readBreaker: (cluster) => table.getAs(metaKey(cluster), breakerOf),
    writeBreaker: (cluster, { version, ...body }) =>
      table.updateIf(
        metaKey(cluster),
        { breaker: JSON.stringify(body), breakerVersion: version + 1 },
        {
          writer: 'breakerWriter',
          expression:
            version === 0
              ? 'attribute_exists(version) AND attribute_not_exists(breakerVersion)'
              : 'breakerVersion = :expected',
          ...(version === 0 ? {} : { values: { ':expected': version } }),
        },
      ),
  };
}

/** The breaker in a META item, or undefined when there is none that can be read. */
export function breakerOf(item: StoredItem): ClusterBreaker | undefined {
  const { breaker: text, breakerVersion: version } = item;
  if (typeof text !== 'string' || typeof version !== 'number') return undefined;
  const body = v.safeParse(
    BreakerSchema,
    readable(() => JSON.parse(text)),
  );
  return { ...(body.success ? body.output : { failures: 0, openings: 0 }), version };
}

const owedSchema = v.array(
  v.looseObject({ cluster: v.pipe(v.string(), v.transform(clusterId)), sinceMs: momentSchema }),
);
const troublesSchema = v.record(
  v.string(),
  v.record(
    v.string(),
    v.object({
      sinceMs: v.exactOptional(momentSchema),
      countedMs: v.exactOptional(momentSchema),
    }),
  ),
);
const WalkSchema = v.looseObject({
  fromMs: momentSchema,
  untilMs: momentSchema,
  isOver: v.boolean(),
  cursor: v.exactOptional(v.string()),
  heldUntilMs: v.exactOptional(momentSchema),
  owed: owedSchema,
  failed: owedSchema,
  troubles: v.exactOptional(
    v.object({
      former: troublesSchema,
      found: troublesSchema,
      clusters: countSchema,
      troubled: countSchema,
    }),
  ),
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
  const body = v.safeParse(
    WalkSchema,
    readable(() => decodeBody(WALK_KEY, item['body'])),
  );
  if (body.success) return { ...body.output, version };
  return { version, fromMs: 0, untilMs: Infinity, isOver: false, owed: [], failed: [] };
}

function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    // Only caches for efficiency: what is damaged is forgotten.
    return undefined;
  }
}
