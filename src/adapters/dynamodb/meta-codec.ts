/**
 * META as it is stored, so that releases before this one, which know no positions in it (ADR 0052) or no slices by columns
 * (ADR 0069), can run beside it and be gone back to.
 *
 *   positions  { at, nodesChanged, byUid }   believed only while `at` is where META stands
 *   nodesChanged                             never below the positions: whom they concern looks again
 *   whole      { version, … }                believed only while `version` is META's: this release wrote it last
 *   isComplete, broken, snapshot             as after a loss: whoever cannot read columns acts on nothing, and asks for a snapshot
 *
 * The release before writes META anew and takes along members that it does not know, so `at` falls behind and the items
 * that it raises count. It skips a key while it finds nothing changed, and does not see that positions did: so it is told
 * that nodes did. It then meets slices ahead of the item of its position, and asks for a snapshot, which repairs the item.
 */
import { defined } from '@rollcall/base/defined.ts';
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

/** How whole the view is, as it is, and why nobody keeps it so. */
type Wholeness = Pick<ClusterMeta, 'isComplete' | 'broken'> &
  Partial<Pick<ClusterMeta, 'incompleteReason' | 'snapshot' | 'watcherStandsBy'>>;

/** The body of META as it is stored. */
export type StoredMeta = Omit<MetaBody, 'positions'> & {
  readonly positions?: StoredPositions;
  readonly whole?: Wholeness & { readonly version: number };
};

/** What is stored of META under its next version. */
export function storedMeta({ positions, ...meta }: MetaBody, version: number): StoredMeta {
  const { isComplete, incompleteReason, broken, snapshot, watcherStandsBy, ...rest } = meta;
  const body = {
    ...rest,
    isComplete: false,
    incompleteReason: 'stored by a newer release',
    broken: broken + 1,
    whole: {
      ...{ version, isComplete, broken },
      ...defined({ incompleteReason, snapshot, watcherStandsBy }),
    },
  };
  if (positions === undefined) return body;
  const { nodesChanged } = body;
  const stamps = Object.values(positions).flatMap((one) => [one.podsChanged, one.revisionsChanged]);
  return {
    ...body,
    nodesChanged: stamps.reduce(laterStamp, nodesChanged),
    positions: { at: stampOf(body), nodesChanged, byUid: positions },
  };
}

/** META of a stored body; as another release left it where that one wrote it last. */
export function metaOf({ positions, whole, ...stored }: StoredMeta, version: number): MetaBody {
  const body = whole?.version === version ? withWholeness(stored, whole) : stored;
  if (positions?.at !== stampOf(body)) return body;
  const { nodesChanged, byUid } = positions;
  return { ...body, nodesChanged, positions: byUid };
}

function withWholeness(
  { incompleteReason: _reason, ...body }: Omit<MetaBody, 'positions'>,
  { version: _version, ...whole }: NonNullable<StoredMeta['whole']>,
): Omit<MetaBody, 'positions'> {
  return { ...body, ...whole };
}
