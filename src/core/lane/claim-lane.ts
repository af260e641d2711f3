/**
 * Claims nodes in the lane, and gives them back: what the item is to be, as a value for one compare-and-set (ADR 0058).
 *
 * A claim is written before the delete is recorded, and a delete that has none is not recorded. Who loses the write reads
 * again and claims anew; an own entry of the same node is renewed. An entry that was judged free goes only if it still
 * is the very claim that was judged.
 */
import type { NodeName, Uid } from '../model/identifiers.ts';
import { LANE_ENTRIES_MAX, LANE_WAITERS_MAX, isSameClaim } from './lane.ts';
import type { Lane, LaneEntry, LaneWaiter } from './lane.ts';

/** What came of claiming. */
export interface LaneClaims {
  /** To be written over the one that was read; the very same one if nothing changes. */
  readonly lane: Lane;
  /** Nodes whose daemon may be replaced, once the lane is written. */
  readonly granted: ReadonlySet<NodeName>;
  /** Nodes that somebody else has. */
  readonly busy: readonly LaneEntry[];
}

/** Claims for one DaemonSet; `freed`: entries that do not count any more. */
export function claimLane(
  lane: Lane,
  wanted: readonly LaneEntry[],
  freed: readonly LaneEntry[],
): LaneClaims {
  const taken = new Map(
    lane.entries
      .filter((entry) => !freed.some((free) => isSameClaim(free, entry)))
      .map((entry) => [entry.node, entry]),
  );
  const granted = new Set<NodeName>();
  const busy: LaneEntry[] = [];
  for (const claim of wanted) {
    const holder = taken.get(claim.node);
    const isFree =
      holder === undefined ? taken.size < LANE_ENTRIES_MAX : holder.owner === claim.owner;
    if (isFree) {
      taken.set(claim.node, holder === undefined ? claim : renewed(claim, holder));
      granted.add(claim.node);
    } else if (holder !== undefined) busy.push(holder);
  }
  const entries = [...taken.values()];
  const [first] = wanted;
  const isRefused = granted.size < wanted.length && first !== undefined;
  const waiters = isRefused ? withWaiter(lane.waiters, first) : lane.waiters;
  const isSame =
    granted.size === 0 && entries.length === lane.entries.length && waiters === lane.waiters;
  return { lane: isSame ? lane : { ...lane, entries, waiters }, granted, busy };
}

/** An own claim again: what went before it may have taken the daemon down already. */
function renewed(claim: LaneEntry, { pod, isDown }: LaneEntry): LaneEntry {
  return isDown === true || pod !== claim.pod ? { ...claim, isDown: true } : claim;
}

/** The waiters with one more; the very same list if it stands there, or there is no room. */
export function withWaiter(
  waiters: readonly LaneWaiter[],
  { namespace, name }: LaneWaiter,
): readonly LaneWaiter[] {
  const isKnown = waiters.some((each) => each.namespace === namespace && each.name === name);
  if (isKnown || waiters.length >= LANE_WAITERS_MAX) return waiters;
  return [...waiters, { namespace, name }];
}

/** What came of giving back. */
export interface LaneRelease {
  readonly lane: Lane;
  /** Keys to be hinted once the lane is written; others than the own one. */
  readonly woken: readonly LaneWaiter[];
}

/** The lane without entries that do not count any more; undefined: none of them stands there. */
export function releaseLane(
  lane: Lane,
  owner: Uid,
  freed: readonly LaneEntry[],
): LaneRelease | undefined {
  const entries = lane.entries.filter((entry) => !freed.some((free) => isSameClaim(free, entry)));
  if (entries.length === lane.entries.length) return undefined;
  const own = lane.entries.find((entry) => entry.owner === owner);
  const woken = lane.waiters.filter(
    ({ namespace, name }) => own?.namespace !== namespace || own.name !== name,
  );
  return { lane: { ...lane, entries, waiters: [] }, woken };
}
