/**
 * What is left of a plan where the built-in controller works (mode copilot): the timing of rolling updates.
 *
 * It makes pods, removes failed, surplus and misplaced ones, adopts and releases, keeps history and status. Rollcall
 * deletes outdated pods of DaemonSets that opt in under OnDelete, and tells Events; nothing else of a plan survives.
 * Nodes at which the built-in controller has something to do stay *touched*: the rolling update counts them as it does
 * where that work is ours. The same is asserted where effects are sent (invariants.ts).
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Plan, PlannedDelete } from '../model/plan.ts';
import type { NodeDecision, PodDecisions } from '../manage-pods/plan-pods.ts';
import { copilotStanding } from '../may-act/opt-in.ts';

/** Decisions of spec 2.7 as what the built-in controller is about to do: for verdicts, never for effects. */
export function leaveToBuiltIn(decisions: PodDecisions): PodDecisions {
  return { nodes: decisions.nodes.map(leaveNode), strays: [] };
}

function leaveNode({
  nodeView,
  create,
  deletes,
  wait,
  withheldUntilMs,
}: NodeDecision): NodeDecision {
  const left = (message: string): NodeDecision => {
    return { nodeView, deletes: [], wait: { code: 'LeftToBuiltIn', message } };
  };
  const [first] = deletes;
  if (first !== undefined) {
    const { name, reason, repeats } = first.planned;
    return left(`the built-in controller is to delete pod ${name} (${repeats ?? reason})`);
  }
  if (withheldUntilMs !== undefined) return left('the built-in controller is to delete a pod');
  const isWaiting = create !== undefined || wait !== undefined;
  return isWaiting ? left('the built-in controller is to make its pod') : { nodeView, deletes };
}

/** The part of a plan that may be carried out beside the built-in controller. */
export function keepForCopilot(plan: Plan, daemonSet: DaemonSetObject): Plan {
  const isFollowed = copilotStanding(daemonSet) === 'followed';
  const { dueAtMs, ...kept } = plan;
  return {
    ...kept,
    creates: [],
    deletes: isFollowed ? plan.deletes.filter(isOfRollingUpdate) : [],
    adopts: [],
    releases: [],
    trims: [],
    status: undefined,
    // Who is only observed is looked at when something happens, never by a timer.
    dueAtMs: isFollowed ? dueAtMs : undefined,
  };
}

/** With OnDelete nothing surges, so an outdated pod is all that a rolling update deletes. */
function isOfRollingUpdate({ reason, repeats }: PlannedDelete): boolean {
  return (repeats ?? reason) === 'outdated';
}
