/**
 * Which deletions spend availability that a view vouches for (S3), and how fresh that view must be.
 *
 * A pod that goes for its successor, or as one of two, leaves its node to others: how many may do so at a time, or
 * whether the other one is there, is counted from all pods of the DaemonSet. That count must be fresh: from pods that
 * were heard of lately, or from one live list. Not so a pod that has ended, whose node is gone, or that should not run
 * where it is: it spends no budget, and a live read of pod and node says so. Pure.
 */
import type { DeleteReason, PlannedDelete } from '../model/plan.ts';
import type { ClusterMeta } from '../model/view-items.ts';

const SPENDING: ReadonlySet<DeleteReason> = new Set([
  'outdated',
  'replaced',
  'duplicate',
  'repeat',
]);

/** True if this deletion is right only by the availability of the DaemonSet's other pods. */
export function spendsBudget({ reason, repeats }: PlannedDelete): boolean {
  return SPENDING.has(repeats ?? reason);
}

/** True if pods were heard of within `withinMs`; what a queue or a sender held back for long is as old as it says. */
export function arePodsFresh(
  { heardAtMs }: Pick<ClusterMeta, 'heardAtMs'>,
  at: { readonly nowMs: number; readonly withinMs: number },
): boolean {
  return heardAtMs.Pod !== undefined && at.nowMs - heardAtMs.Pod <= at.withinMs;
}
