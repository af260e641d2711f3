/**
 * Which nodes the status of a rollout names: who uses up the budget, and why.
 *
 * Told from the plan that a run of now would make. Lists are bounded, and counted whole. Nothing is decided here.
 */
import type { NodeName } from '../../core/model/identifiers.ts';
import type { Plan, RolloutProgress } from '../../core/model/plan.ts';
import type { NodeCode, Verdict } from '../../core/model/verdict.ts';

/** Nodes of a list; what is beyond is only counted. */
export const SHOWN_NODES_MAX = 16;

/** A node that uses up the budget, with its verdict (docs/reference.md). */
export interface BudgetUser {
  readonly node: NodeName;
  readonly code: NodeCode;
  readonly message: string;
}

/** What bounds a rollout now, and who uses it. */
export interface ShownBudget extends Omit<
  RolloutProgress,
  'desiredNodes' | 'updatedNodes' | 'unavailable'
> {
  /** How many more nodes may be without an available pod, or surge. */
  readonly freeNodes: number;
  /** SHOWN_NODES_MAX at most; of a rollout in stages without surge. */
  readonly users: readonly BudgetUser[];
}

/** The budget of a plan; undefined: no revision is rolled out. */
export function shownBudget(
  { rollout }: Pick<Plan, 'rollout'>,
  verdicts: readonly Verdict[],
): ShownBudget | undefined {
  if (rollout === undefined) return undefined;
  const { desiredNodes: _desired, updatedNodes: _updated, unavailable = [], ...budget } = rollout;
  const { unavailableNodes, unavailableNodesMax, surgingNodes, surgeNodesMax } = budget;
  const free =
    surgeNodesMax > 0 ? surgeNodesMax - surgingNodes : unavailableNodesMax - unavailableNodes;
  const byNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const users = unavailable.slice(0, SHOWN_NODES_MAX).flatMap((node) => {
    const verdict = byNode.get(node);
    return verdict === undefined ? [] : [{ node, code: verdict.code, message: verdict.message }];
  });
  return { ...budget, freeNodes: Math.max(0, free), users };
}
