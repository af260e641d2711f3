/**
 * The nodes of a view as a staged rollout sees them (issue 17).
 *
 * A pod that is terminating, or whose delete was accepted, is gone for a rollout; one whose delete is on its way is not well.
 * Made before pods are planned, because which revision a node is to run follows from it.
 */
import { defined } from '@rollcall/base/defined.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { IntentJudgement, NodeView, View } from '../model/plan.ts';
import {
  isAvailable,
  isNamedUpdated,
  minReadyMsOf,
  templateGenerationOf,
} from '../pod/pod-facts.ts';
import type { RolloutPolicy } from '../policy/rollout-policy.ts';
import type { StageNode } from '../stages/stage-node.ts';

/** Nodes that are to run a pod (`run`), or that keep the one that they have (`keep`), in the order of the view. */
export function findStageNodes(
  view: View,
  at: {
    readonly intents: IntentJudgement;
    /** Of the template. */
    readonly hash: string;
    readonly policy: RolloutPolicy;
    readonly placement: 'run' | 'keep';
  },
): readonly StageNode[] {
  const { intents, hash, policy } = at;
  const deletes = intents.unseen.filter((intent) => intent.kind === 'delete');
  const accepted = new Set(deletes.map(({ uid }) => uid));
  const doomed = new Set(
    intents.unresolved.flatMap((intent) => (intent.kind === 'delete' ? [intent.uid] : [])),
  );
  const templateGeneration = templateGenerationOf(view.daemonSet);
  const current = { hash, templateGeneration };
  const ready = { minReadyMs: minReadyMsOf(view.daemonSet), nowMs: view.nowMs };
  const exclude = policy.exclude === undefined ? undefined : compileSelector(policy.exclude);
  const emptied = newestGone(view);
  const describe = ({ node, pods }: NodeView): StageNode => {
    const staying = pods.filter((pod) => !pod.isTerminating && !accepted.has(pod.uid));
    const updated = staying.find((pod) => isNamedUpdated(pod, current));
    const old = staying.find((pod) => !isNamedUpdated(pod, current));
    const isWell = updated !== undefined && isAvailable(updated, ready) && !doomed.has(updated.uid);
    return {
      node,
      isWell,
      isMoving: old === undefined && !isWell,
      isExcluded: exclude?.matches(node.labels) === true,
      ...defined({
        old,
        updated,
        isLeaving: old !== undefined && doomed.has(old.uid) ? true : undefined,
        emptySinceMs: pods.length === 0 ? emptied.get(node.name) : undefined,
      }),
    };
  };
  const isMeant = ({ placement, pods }: NodeView): boolean =>
    placement === at.placement && (placement === 'run' || pods.length > 0);
  return view.nodes.filter(isMeant).map(describe);
}

/** When the newest pod of each node was told to be gone. */
function newestGone({ gone }: View): ReadonlyMap<NodeName, number> {
  const newest = new Map<NodeName, number>();
  for (const { node, goneAtMs } of gone) {
    newest.set(node, Math.max(goneAtMs, newest.get(node) ?? 0));
  }
  return newest;
}
