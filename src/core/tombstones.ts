/**
 * Tombstones: which pods that are gone are remembered, and for how long (S13, ADR 0030).
 *
 * Kept for ten minutes after a pod was told to be gone; of one node and revision only the newest two,
 * so that a pod which comes and goes each second cannot fill an item. Two, because of a chain's last
 * two pods either may be told to be gone last, and names lead from the one to the other. Of a
 * node's pods whose revision nobody knows (a user or a webhook took the label off) sixteen: with surge no
 * name leads on from these. A pod that lives has no tombstone. Pure: in a slice the time is the message's, so
 * that a redelivery buries alike; in a state ten minutes must pass by two clocks, the function's and the view's
 * messages', so that one that is wrong forgets nothing (row 13).
 */
import type { Uid } from './model/identifiers.ts';
import type { PodProjection } from './model/projections.ts';
import type { CreateIntent, Intent } from './model/state.ts';
import type { Tombstone } from './model/tombstone.ts';
import { compareText } from './compare-text.ts';
import { revisionHashOfPod } from './pod-facts.ts';

/** How long a name is not used again, at least (S13). */
export const TOMBSTONE_KEPT_MS = 600_000;
/** Of one node and revision. */
const PER_PLACE_MAX = 2;
/** Of one node, where the revision is not known. */
const UNLABELLED_MAX = 16;
/** In one list: far more than a slice has pods, and some 100 KB of an item at the very most. */
const LISTED_MAX = 2000;

/** What is kept is judged by this. */
export interface BurialContext {
  readonly nowMs: number;
  /** For those of a state: the time of the last message that its view was told. */
  readonly toldAtMs?: number;
  /** True of the UID of a pod that is there. */
  readonly isLiving: (uid: Uid) => boolean;
}

/** The tombstone of a pod; none for one that had no node, and so no slot. */
export function tombstoneOf(pod: PodProjection, goneAtMs: number): Tombstone | undefined {
  const node = pod.targetNode ?? pod.boundNode;
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

/** Of these the ones that are still needed, each UID once, the one told last first. */
export function keepTombstones(
  tombstones: readonly Tombstone[],
  context: BurialContext,
): readonly Tombstone[] {
  const sorted = [...tombstones].sort(compareBurials);
  const known = new Set<Uid>();
  const counts = new Map<string, number>();
  const kept: Tombstone[] = [];
  for (const tombstone of sorted) {
    const { uid, node, revision = '' } = tombstone;
    if (kept.length === LISTED_MAX) break;
    if (known.has(uid) || context.isLiving(uid) || isOver(tombstone, context)) continue;
    const place = `${node}\n${revision}`;
    const count = counts.get(place) ?? 0;
    if (count === (revision === '' ? UNLABELLED_MAX : PER_PLACE_MAX)) continue;
    counts.set(place, count + 1);
    known.add(uid);
    kept.push(tombstone);
  }
  return kept;
}

/** True once ten minutes passed by every clock that tells. */
function isOver(tombstone: Tombstone, { nowMs, toldAtMs }: BurialContext): boolean {
  if (nowMs - tombstone.goneAtMs <= TOMBSTONE_KEPT_MS) return false;
  if (toldAtMs === undefined) return true;
  return toldAtMs - (tombstone.toldAtMs ?? toldAtMs) > TOMBSTONE_KEPT_MS;
}

/** Tombstones of pods that a view still shows and that were not found live: their names were borne, too. */
export function buryMissing(
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
 * nobody knows their labels. Whoever sees such a pod buries it again, or knows that it lives.
 */
export function buryAnswered(settled: readonly Intent[], goneAtMs: number): readonly Tombstone[] {
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
