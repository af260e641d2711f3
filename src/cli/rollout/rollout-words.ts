/**
 * Budget and strays of a rollout in words: the same in `rollcall rollout status` and in the table of `npm start`.
 *
 * Names of nodes and daemons are what a cluster said; whoever prints the lines takes control characters out.
 */
import { counted } from '@rollcall/base/counted.ts';
import { SHOWN_NODES_MAX } from '../../app/rollout/shown-nodes.ts';
import type { ShownBudget } from '../../app/rollout/shown-nodes.ts';
import { describeEvidence } from '../../core/rollout/describe-record.ts';
import type { ShownEvidence } from '../../core/rollout/shown-evidence.ts';

/** What bounds it, how much of that is free, and who uses it. */
export function budgetText(budget: ShownBudget): string {
  const { unavailableNodes, unavailableNodesMax, surgingNodes, surgeNodesMax } = budget;
  const { waitingNodes, freeNodes, users } = budget;
  const used =
    surgeNodesMax > 0
      ? `${String(surgingNodes)} of ${String(surgeNodesMax)} surging`
      : `${String(unavailableNodes)} of ${String(unavailableNodesMax)} unavailable`;
  const parts = [`${used}, ${String(freeNodes)} free`];
  if (users.length > 0) {
    const names = users.map(({ node, code }) => `${node} (${code})`).join(', ');
    const more = unavailableNodes - users.length;
    parts.push(`used by ${names}${more > 0 ? ` and ${String(more)} more` : ''}`);
  }
  if (waitingNodes > 0)
    parts.push(counted(waitingNodes, 'node waits for its turn', 'nodes wait for their turn'));
  return parts.join('; ');
}

/** Nodes ahead of their step (copilot). */
export function strayText(strays: readonly string[]): string {
  const shown = strays.slice(0, SHOWN_NODES_MAX).join(', ');
  const more = strays.length - SHOWN_NODES_MAX;
  const nodes = more > 0 ? `${shown} and ${String(more)} more` : shown;
  return `${String(strays.length)} ahead of their step, watched as canaries: ${nodes}`;
}

/** What a table says of the evidence: nothing while nothing failed and the test is as strong as it looks. */
export function evidenceLines(
  evidence: ShownEvidence,
  breach: Parameters<typeof describeEvidence>[1],
): readonly string[] {
  const { failures, isVoid, isWithoutControls } = evidence;
  if (failures.length === 0 && !isVoid && !isWithoutControls) return [];
  return describeEvidence({ ...evidence, failures: [] }, breach);
}
