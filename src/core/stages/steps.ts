/**
 * Which nodes are in open steps, and which step would be next (issue 17).
 *
 * A step once opened stays open, told by its name: groups before it in today's order are open, too, so a node that joins
 * one of them is updated at once. If the order was edited and the name is gone, the canary alone is open, and the next
 * step has to be opened again.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { RolloutPolicy } from '../policy/rollout-policy.ts';
import { nodesRoundedUp } from '../policy/share.ts';
import { groupNodes } from './groups.ts';
import { isPending, nameOf } from './stage-node.ts';
import type { StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

/** The steps as they stand. */
export interface Steps {
  /** Nodes of open steps, without those that the policy leaves out. */
  readonly open: readonly StageNode[];
  /** The first group that is not open and has a node to be updated; undefined: none is left. */
  readonly next: { readonly name: string } | undefined;
  /** How many groups the order makes of the nodes of today. */
  readonly groups: number;
}

/** Nodes of open steps, and the step after them. */
export function findSteps(
  { step, canary }: Pick<RolloutRecord, 'step' | 'canary'>,
  nodes: readonly StageNode[],
  policy: RolloutPolicy,
): Steps {
  const able = nodes.filter(({ isExcluded }) => !isExcluded);
  const groups = groupNodes(able, policy.order);
  if (step.kind === 'done') return { open: able, next: undefined, groups: groups.length };
  const openedUpTo =
    step.kind === 'group' ? groups.findIndex(({ name }) => name === step.name) : -1;
  const isCanary = new Set<NodeName>(step.kind === 'waiting' ? [] : canary);
  const opened = new Set(groups.slice(0, openedUpTo + 1).flatMap((group) => group.nodes));
  const open = able.filter((node) => opened.has(node) || isCanary.has(nameOf(node)));
  const next = groups
    .slice(openedUpTo + 1)
    .find((group) => group.nodes.some((node) => isPending(node) && !isCanary.has(nameOf(node))));
  return { open, next, groups: groups.length };
}

/** maxUnavailable of the policy, else of the DaemonSet's strategy, of the nodes that the rollout began with. */
export function budgetOf(
  record: Pick<RolloutRecord, 'baseNodes'>,
  { policy, strategyUnavailable }: Pick<StagesInput, 'policy' | 'strategyUnavailable'>,
): number {
  const share = policy.maxUnavailable;
  if (share === undefined) return Math.max(1, strategyUnavailable);
  return Math.max(1, nodesRoundedUp(share, record.baseNodes));
}
