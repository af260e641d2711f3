/**
 * Nodes that went bad by themselves, and so neither block a step nor use up the budget (issue 17).
 *
 * Nodes that were bad before their turn count on neither side. With `budget: attributed` nodes of the trial that are bad
 * are excused as well, while the trial does not blame the revision, up to a cap; beyond the cap breach.ts halts.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { RolloutPolicy } from '../policy/rollout-policy.ts';
import { nodesRoundedDown } from '../policy/share.ts';
import type { NodeCounts } from '../policy/share.ts';
import { nameOf } from './stage-node.ts';
import type { StageNode } from './stage-node.ts';

/** At least so many nodes may fail by themselves, whatever the share. */
const EXCUSED_NODES_MIN = 2;
const EXCUSED_SHARE = { kind: 'percent', percent: 5 } as const;

/** The most nodes that are excused at once: max(2, 5 %), rounded down. */
export function excusedNodesMax({ then, now }: NodeCounts): number {
  return Math.max(EXCUSED_NODES_MIN, nodesRoundedDown(EXCUSED_SHARE, Math.min(then, now)));
}

/** The nodes that are excused now. */
export function excuseNodes(
  { trial, baseNodes }: RolloutRecord,
  nodes: readonly StageNode[],
  { budget }: RolloutPolicy,
): ReadonlySet<NodeName> {
  if (budget === 'parity') return new Set();
  const outside = new Set(trial.outside);
  const bad = nodes.filter(({ node, isExcluded }) => !node.isReady && !isExcluded).map(nameOf);
  const most = excusedNodesMax({ then: baseNodes, now: nodes.length });
  const before = bad.filter((name) => outside.has(name));
  const since = bad.filter((name) => !outside.has(name)).slice(0, most);
  return new Set([...before, ...since]);
}
