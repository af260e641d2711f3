/**
 * What a run sees of a staged rollout's nodes: evidence on pods and nodes, each taken once (issue 17).
 *
 * Only pods of the revision that is rolled out say anything about it. A node that is not Ready says nothing of its pod.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { TrialNode } from '../evidence/trial.ts';
import { stratumOf } from '../evidence/node-attributes.ts';
import { nameOf } from './stage-node.ts';
import type { StageNode } from './stage-node.ts';

/** The nodes as the trial sees them: those without an old pod are updated. */
export function trialNodes(nodes: readonly StageNode[]): readonly TrialNode[] {
  return nodes.map((each) => ({
    name: nameOf(each),
    stratum: stratumOf(each.node),
    isUpdated: each.updated !== undefined || each.isMoving,
    isBad: !each.node.isReady,
    ...defined({ createdAtMs: each.node.createdAtMs }),
  }));
}

/** Restarts of all pods of the revision. */
export function countRestarts(nodes: readonly StageNode[]): number {
  return nodes.reduce((sum, { updated }) => sum + (updated?.trouble?.restarts ?? 0), 0);
}
