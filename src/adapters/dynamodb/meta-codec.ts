/**
 * META as it is stored, so that the release before this one, which knows no positions in it, can run beside it and be
 * gone back to (ADR 0052).
 *
 *   positions  { at, nodesChanged, byUid }   believed only while `at` is where META stands
 *   nodesChanged                             never below the positions: whom they concern looks again
 *
 * The release before writes META anew and takes along members that it does not know, so `at` falls behind and the items
 * that it raises count. It skips a key while it finds nothing changed, and does not see that positions did: so it is told
 * that nodes did. It then meets slices ahead of the item of its position, and asks for a snapshot, which repairs the item.
 */
import { laterStamp, stampOf } from '../../core/model/position.ts';
import type { Stamp } from '../../core/model/position.ts';
import type { ClusterMeta, Positions } from '../../core/model/view-items.ts';

type MetaBody = Omit<ClusterMeta, 'version' | 'breaker'>;

interface StoredPositions {
  readonly at: Stamp;
  /** As it is; the member of the same name beside these may be later. */
  readonly nodesChanged: Stamp;
  readonly byUid: Positions;
}

/** The body of META as it is stored. */
export type StoredMeta = Omit<MetaBody, 'positions'> & { readonly positions?: StoredPositions };

/** What is stored of META. */
export function storedMeta({ positions, ...body }: MetaBody): StoredMeta {
  if (positions === undefined) return body;
  const { nodesChanged } = body;
  const stamps = Object.values(positions).flatMap((one) => [one.podsChanged, one.revisionsChanged]);
  return {
    ...body,
    nodesChanged: stamps.reduce(laterStamp, nodesChanged),
    positions: { at: stampOf(body), nodesChanged, byUid: positions },
  };
}

/** META of a stored body; without positions where another release wrote it last. */
export function metaOf({ positions, ...body }: StoredMeta): MetaBody {
  if (positions?.at !== stampOf(body)) return body;
  const { nodesChanged, byUid } = positions;
  return { ...body, nodesChanged, positions: byUid };
}
