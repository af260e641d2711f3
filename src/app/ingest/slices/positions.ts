/**
 * Positions of the DaemonSets whose slices a message touched: the highest stamps that stand there (protocol 20, ADR
 * 0076).
 *
 *   META has an entry, or room for one ──▶ an entry of the META that is written next: no write of its own
 *   it has neither ──────────────────────▶ the item of the DaemonSet is raised, before META is written
 *
 * An entry begins with what the item says. Stamps of skipped slices count, so a message that comes again leads to the
 * same.
 */
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import { ZERO_STAMP, laterStamp } from '../../../core/model/position.ts';
import { NO_POSITION, positionIn } from '../../../core/model/view-items.ts';
import type { DaemonSetPosition, NameItem, Positions } from '../../../core/model/view-items.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { DaemonSetRef } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { latestStamp, type WrittenSlice } from './write-slices.ts';

/** Whose META it is, and the positions that it has. */
export interface PositionsTarget {
  readonly clusterUid: ClusterUid;
  readonly positions: Positions | undefined;
}

/** Answers the entries of META that these slices changed, raised; raises the items of the others. */
export async function settlePositions(
  { clusterUid, positions = {} }: PositionsTarget,
  slices: readonly WrittenSlice[],
  { view, options }: Pick<IngestDependencies, 'view' | 'options'>,
): Promise<Positions> {
  const standing = slices.filter(({ set, stamp }) => set !== 'nodes' && stamp !== ZERO_STAMP);
  const owners = [...new Set(standing.map(({ set }) => ownerOf(set)))];
  const isKept = (uid: Uid): boolean => positionIn(positions, uid) !== undefined;
  const roomCount = options.positionsMax - Object.keys(positions).length;
  const entering = new Set(owners.filter((uid) => !isKept(uid)).slice(0, Math.max(0, roomCount)));
  const settled = await sideBySide(owners, options.concurrencyMax, async (uid) => {
    const ref: DaemonSetRef = { clusterUid, uid };
    const touched: DaemonSetPosition = {
      podsChanged: latestStamp(standing, `pods/${uid}`),
      revisionsChanged: latestStamp(standing, `revisions/${uid}`),
    };
    if (!isKept(uid) && !entering.has(uid)) {
      await view.raisePosition(ref, withoutZero(touched));
      return [];
    }
    const former = positionIn(positions, uid) ?? (await view.readPosition(ref)) ?? NO_POSITION;
    return [[uid, raised(former, touched)] as const];
  });
  return Object.fromEntries(settled.flat());
}

/** Those of META that are of a DaemonSet that stands: whose DaemonSet is gone has none there any more. */
export function positionsOf(
  standing: readonly NameItem[],
  positions: Positions | undefined,
): Positions {
  const uids = standing.flatMap(({ uid }) => (uid === null ? [] : [uid]));
  return Object.fromEntries(
    uids.flatMap((uid) => {
      const position = positionIn(positions, uid);
      return position === undefined ? [] : [[uid, position] as const];
    }),
  );
}

function raised(former: DaemonSetPosition, by: DaemonSetPosition): DaemonSetPosition {
  return {
    podsChanged: laterStamp(former.podsChanged, by.podsChanged),
    revisionsChanged: laterStamp(former.revisionsChanged, by.revisionsChanged),
  };
}

function withoutZero({
  podsChanged,
  revisionsChanged,
}: DaemonSetPosition): Partial<DaemonSetPosition> {
  return {
    ...(podsChanged === ZERO_STAMP ? {} : { podsChanged }),
    ...(revisionsChanged === ZERO_STAMP ? {} : { revisionsChanged }),
  };
}

/** The DaemonSet that a set of pods or revisions belongs to. */
export function ownerOf(set: WrittenSlice['set']): Uid {
  return set.slice(set.indexOf('/') + 1) as Uid;
}
