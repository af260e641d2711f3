/**
 * Lost canary nodes in words: the same in `rollcall rollout status`, in Events and in breaches.
 *
 * Sentences hold names and counts, no ages, so that they change only when something else does. Nothing is decided here.
 */
import { namesOf } from '../health/breach.ts';
import type { CanaryLoss } from '../model/rollout-record.ts';

/** `n1 is not Ready and counts for nothing; n7 goes in its place`; empty where none is lost now. */
export function describeLosses(losses: readonly CanaryLoss[]): string {
  const now = losses.filter(({ isOver }) => isOver !== true);
  if (now.length === 0) return '';
  const isOne = now.length === 1;
  const lost = `${namesOf(now.map(({ node }) => node))} ${isOne ? 'is' : 'are'} not Ready and ${isOne ? 'counts' : 'count'} for nothing`;
  const added = now.flatMap((loss) => loss.added ?? []);
  if (added.length === 0) return lost;
  return `${lost}; ${namesOf(added)} ${added.length === 1 ? 'goes' : 'go'} in ${isOne ? 'its' : 'their'} place`;
}

/** Where no other node can be added. */
export const NO_OTHER =
  'no other node can go in its place, so mend it, delete it, or exclude it by the policy';

/** True if a node was lost with this look, or one was added in the place of another. */
export function hasNewLoss(before: readonly CanaryLoss[], after: readonly CanaryLoss[]): boolean {
  const known = new Map(before.map((loss) => [loss.node, loss]));
  return after.some(({ node, atMs, isOver, added }) => {
    const was = known.get(node);
    const isNew = isOver !== true && was?.atMs !== atMs;
    return isNew || (added !== undefined && was?.added !== added);
  });
}
