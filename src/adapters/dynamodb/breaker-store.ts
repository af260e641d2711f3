/**
 * The circuit breaker of a cluster, as attributes of its META item.
 *
 * `breaker` (JSON text) and `breakerVersion`, with a writer token of their own: `ingest` writes the other
 * attributes of the item by its own version, and neither hinders the other. What cannot be read counts
 * as no breaker: closed (core/breaker.ts).
 */
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { BreakerStore } from '../../ports/stores/breaker-store.ts';
import type { StoredItem } from './batched-reader.ts';
import { metaKey } from './item-keys.ts';
import type { Table } from './table.ts';

/** Breakers of one view table. */
export function createBreakerStore(table: Table): BreakerStore {
  return {
    readBreaker: async (cluster) => {
      const item = await table.get(metaKey(cluster));
      return item === undefined ? undefined : breakerOf(item);
    },
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
  const body = parse(text);
  // Unreadable is closed; the version is kept, so that the next change can be written.
  if (!isBreaker(body)) return { version, failures: 0, openings: 0 };
  return { ...body, version };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Only a cache for efficiency: what is damaged is forgotten.
    return undefined;
  }
}

function isBreaker(body: unknown): body is Omit<ClusterBreaker, 'version'> {
  if (!isJsonObject(body)) return false;
  const { failures, openings, open, ...times } = body;
  if (!isCount(failures) || !isCount(openings)) return false;
  const isOpening =
    open === undefined ||
    (isJsonObject(open) && isMoment(open['untilMs']) && isMoment(open['delayMs']));
  return isOpening && Object.values(times).every(isMoment);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isMoment(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}
