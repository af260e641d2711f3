/**
 * Counts a mass removal: which nodes are to lose their pod in this run, which lost it within the window, and of how many.
 *
 * Nothing is stored for it: a pod that went is remembered by its tombstone for just as long (S13), and one that is going is
 * seen to be. Nodes are counted, not pods, and only nodes that exist: a node that comes back into the placement is none any
 * more, so a label that flaps counts once. On neither side: nodes that are being drained or deleted, whose pods go anyway,
 * and pods that a NoExecute taint evicts, since the taint manager does so itself; a node object that is gone is none.
 */
import { isGoing } from '../manage-pods/plan-pods.ts';
import type { DeleteDecision, NodeDecision, PodDecisions } from '../manage-pods/plan-pods.ts';
import type { Planning } from '../manage-pods/planning.ts';
import type { RolloutDecisions } from '../rolling-update/plan-rollout.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeView, PlannedDelete } from '../model/plan.ts';
import { REMOVAL_WINDOW_MS, type RemovalCount } from './removal-rules.ts';

export interface Removal extends RemovalCount {
  /** Nodes whose pods are to go in this run, in the order of the view. */
  readonly leaving: readonly NodeView[];
  /** Nodes that count although nothing is to go there any more. */
  readonly left: readonly NodeView[];
}

/** True of a delete that takes a pod from a node where it does not belong any more. */
export function isRemoval({ reason, repeats }: PlannedDelete): boolean {
  const wanted = repeats ?? reason;
  return wanted === 'not-wanted' || wanted === 'vacated';
}

/** Counts what was decided so far. `isEdit`: the template is not what it was, so pods may tolerate what it does not. */
export function countRemoval(
  planning: Planning,
  made: { readonly decisions: PodDecisions; readonly rollout: RolloutDecisions },
  isEdit: boolean,
): Removal {
  const vacated = new Set(made.rollout.deletes.flatMap(({ planned }) => nodeOfRemoval(planned)));
  const leaving: NodeView[] = [];
  const left: NodeView[] = [];
  let standing = 0;
  let gone: ReadonlySet<NodeName> | undefined;
  for (const decision of made.decisions.nodes) {
    const { nodeView } = decision;
    const isLeaving = decision.deletes.some(isRemovalDecision) || vacated.has(nodeView.node.name);
    if (isLeaving && isExempt(nodeView, isEdit)) continue;
    if (isLeaving) leaving.push(nodeView);
    else if (nodeView.pods.some((pod) => !isGoing(planning, pod))) standing += 1;
    else if (nodeView.placement === 'leave' && !isExempt(nodeView, isEdit)) {
      gone ??= lately(planning);
      if (nodeView.pods.length > 0 || gone.has(nodeView.node.name)) left.push(nodeView);
    }
  }
  const pods = leaving.length + left.length;
  return { leaving, left, pods, basePods: standing + pods };
}

function isRemovalDecision({ planned }: DeleteDecision): boolean {
  return isRemoval(planned);
}

function nodeOfRemoval(planned: PlannedDelete): readonly NodeName[] {
  return planned.node !== undefined && isRemoval(planned) ? [planned.node] : [];
}

/** Its pods go whatever we do: drained, deleted, or evicted by the taint manager. */
function isExempt({ node, placement, reason }: NodeView, isEdit: boolean): boolean {
  if (node.isTerminating || node.unschedulable) return true;
  return placement === 'leave' && reason.code === 'TaintNotTolerated' && !isEdit;
}

/** Nodes from which a pod went within the window. */
function lately({ view }: Planning): ReadonlySet<NodeName> {
  const fromMs = view.nowMs - REMOVAL_WINDOW_MS;
  return new Set(view.gone.filter(({ goneAtMs }) => goneAtMs > fromMs).map(({ node }) => node));
}

/** A node's decision without the deletes that a mass removal would send. */
export function withoutRemovals(
  decision: NodeDecision,
  isHeld: (planned: PlannedDelete) => boolean,
): NodeDecision {
  return { ...decision, deletes: decision.deletes.filter(({ planned }) => !isHeld(planned)) };
}
