/**
 * Tombstones: which pods that are gone are remembered, and for how long (S13, ADR 0030).
 *
 * For ten minutes; of one node and revision the newest sixteen, so that a pod which comes and goes each second
 * cannot fill an item. Sixteen, because a chain of names must not break where its first pod counts as the newest
 * (an API server's clock was ahead) or outlives the others (a finalizer); a pod that fails at once has some ten
 * successors in that time. A full list keeps the newest two of each first. A living pod has none. Pure: in a slice
 * the time is the message's, so that a redelivery buries alike; in a state ten minutes must pass by the function's
 * clock and by the view's messages' (row 13).
 */
import type { Uid } from '../model/identifiers.ts';
import type { PodProjection, Tombstone } from '../model/projections.ts';
import type { CreateIntent, Intent } from '../model/state.ts';
import type { OlderTombstonesRef } from '../model/view-items.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { nodeOf, revisionHashOfPod } from './pod-facts.ts';

/** How long a name is not used again, at least (S13). */
export const TOMBSTONE_KEPT_MS = 600_000;
/** Of one node and revision, or of one node where the revision is not known. */
const PER_PLACE_MAX = 16;
/** Of those, where a list is full: of a chain's last two pods either may be told to be gone last. */
const FIRST_PER_PLACE = 2;
/** In one list: far more than a slice has pods, and some 100 KB of an item at the very most. */
const LISTED_MAX = 2000;

/** What has a UID: a pod, a tombstone. */
interface Bearing {
  readonly uid: Uid;
}

export interface BurialContext {
  readonly nowMs: number;
  /** For those of a state: the time of the last message that its view was told. */
  readonly toldAtMs?: number;
  /** True of the UID of a pod that is there. */
  readonly isLiving: (uid: Uid) => boolean;
}

/** The tombstone of a pod; none for one that had no node, and so no slot. */
export function tombstoneOf(pod: PodProjection, goneAtMs: number): Tombstone | undefined {
  const node = nodeOf(pod);
  if (node === undefined) return undefined;
  const { name, uid, createdAtMs } = pod;
  const revision = revisionHashOfPod(pod);
  return {
    name,
    uid,
    node,
    ...(revision === undefined ? {} : { revision }),
    createdAtMs,
    goneAtMs,
  };
}

/** Lists that were answered: nothing of them goes but what lives, or is over by now. */
const keptLists = new WeakSet<readonly Tombstone[]>();

/** Of these the ones that are still needed, each UID once, the one told last first; the very list where all are. */
export function keepTombstones(
  tombstones: readonly Tombstone[],
  context: BurialContext,
): readonly Tombstone[] {
  const isGoing = (each: Tombstone): boolean => context.isLiving(each.uid) || isOver(each, context);
  // Stryker disable next-line ConditionalExpression: what was answered is answered again
  if (keptLists.has(tombstones) && !tombstones.some(isGoing)) return tombstones;
  const kept = chooseKept(tombstones, isGoing);
  keptLists.add(kept);
  return kept;
}

function chooseKept(
  tombstones: readonly Tombstone[],
  isGoing: (each: Tombstone) => boolean,
): readonly Tombstone[] {
  const sorted = isSorted(tombstones) ? tombstones : [...tombstones].sort(compareBurials);
  const known = new Set<Uid>();
  const counts = new Map<string, number>();
  const first: Tombstone[] = [];
  const others: Tombstone[] = [];
  for (const tombstone of sorted) {
    const { uid, node, revision = '' } = tombstone;
    if (known.has(uid) || isGoing(tombstone)) continue;
    const place = `${node}\n${revision}`;
    const count = counts.get(place) ?? 0;
    if (count === PER_PLACE_MAX) continue;
    counts.set(place, count + 1);
    known.add(uid);
    (count < FIRST_PER_PLACE ? first : others).push(tombstone);
  }
  // Stryker disable next-line ConditionalExpression: saves sorting what is sorted
  if (others.length === 0) return first.slice(0, LISTED_MAX);
  return [...first, ...others].slice(0, LISTED_MAX).sort(compareBurials);
}

/** UIDs of the first list that the others have, too. The fewer are looked up: a set of thousands costs more than all else of a run. */
export function uidsAmong(
  asked: readonly Bearing[],
  ...lists: readonly (readonly Bearing[])[]
): Set<Uid> {
  const wanted = new Set(asked.map(({ uid }) => uid));
  const found = new Set<Uid>();
  for (const list of lists) for (const { uid } of list) if (wanted.has(uid)) found.add(uid);
  return found;
}

/** True of most lists: what is new goes before what was kept. */
function isSorted(tombstones: readonly Tombstone[]): boolean {
  return tombstones.every((each, index) => {
    const former = tombstones[index - 1];
    return former === undefined || compareBurials(former, each) <= 0;
  });
}

/** True while older tombstones of a slice may still be needed: ten minutes after the last, by the times of messages. */
export function areOlderNeeded(
  older: OlderTombstonesRef | undefined,
  nowMs: number,
): older is OlderTombstonesRef {
  return older !== undefined && nowMs - older.goneAtMs <= TOMBSTONE_KEPT_MS;
}

/** True once ten minutes passed by every clock that tells. */
function isOver(tombstone: Tombstone, { nowMs, toldAtMs }: BurialContext): boolean {
  if (nowMs - tombstone.goneAtMs <= TOMBSTONE_KEPT_MS) return false;
  if (toldAtMs === undefined) return true;
  return toldAtMs - (tombstone.toldAtMs ?? toldAtMs) > TOMBSTONE_KEPT_MS;
}

/** Tombstones of pods that a view still shows and that were not found live: their names were borne, too. */
export function tombstonesOfMissing(
  shown: readonly PodProjection[],
  found: readonly PodProjection[],
  goneAtMs: number,
): readonly Tombstone[] {
  // Stryker disable next-line ConditionalExpression: saves a look at each pod where nothing was read live
  if (shown === found) return [];
  const left = new Set(found.map(({ uid }) => uid));
  return shown
    .filter(({ uid }) => !left.has(uid))
    .flatMap((pod) => tombstoneOf(pod, goneAtMs) ?? []);
}

/**
 * Tombstones of creates that were answered and are settled, whose pods may have come and gone unseen:
 * their labels are unknown. When such a pod is seen after all, its tombstone is written anew, or dropped if it lives.
 */
export function tombstonesOfAnswered(
  settled: readonly Intent[],
  goneAtMs: number,
): readonly Tombstone[] {
  return settled
    .filter((intent): intent is CreateIntent => intent.kind === 'create')
    .flatMap(({ name, node, answer, recordedAtMs }) =>
      answer === undefined
        ? []
        : [{ name, uid: answer.uid, node, createdAtMs: recordedAtMs, goneAtMs }],
    );
}

/** Told last first; at one moment made last first, then by UID. */
function compareBurials(left: Tombstone, right: Tombstone): number {
  return (
    right.goneAtMs - left.goneAtMs ||
    right.createdAtMs - left.createdAtMs ||
    compareText(left.uid, right.uid)
  );
}
