/**
 * The circuit breaker of a cluster, as attributes of its META item.
 *
 * `breaker` (JSON text) and `breakerVersion`, with a writer token of their own: `ingest` writes the other
 * attributes of the item by its own version, and neither hinders the other. What cannot be read counts
 * as no breaker: closed (core/breaker.ts).
 */
import * as v from 'valibot';
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import type { BreakerStore } from '../../ports/stores/view-store.ts';
import type { StoredItem } from './batched-reader.ts';
import { metaKey } from './item-keys.ts';
import type { Table } from './table.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));
const momentSchema = v.pipe(v.number(), v.finite());
const BreakerSchema = v.objectWithRest(
  {
    failures: countSchema,
    openings: countSchema,
    open: v.exactOptional(v.object({ untilMs: momentSchema, delayMs: momentSchema })),
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
  const body = v.safeParse(BreakerSchema, parse(text));
  // Unreadable is closed; the version is kept, so that the next change can be written.
  return { ...(body.success ? body.output : { failures: 0, openings: 0 }), version };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Only a cache for efficiency: what is damaged is forgotten.
    return undefined;
  }
}
