/**
 * Which revision each node is to run: the DaemonSet's own, unless a staged rollout keeps it at the former one (issue 17).
 *
 * Whether a pod is of its node's revision is asked here alone, so that no two steps of a run disagree. Where a node is
 * to run the former revision, any pod that is neither of the revision rolled out nor of one that nothing proved is let be.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { FormerTemplate } from '../model/staged-progress.ts';
import type { View } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import {
  isNamedUpdated,
  isUpdated,
  revisionHashOfPod,
  templateGenerationOf,
} from '../pod/pod-facts.ts';

/** Revisions by node. */
export interface Targets {
  /** controller-revision-hash that a new pod of the node is made of; undefined while the current one is not known. */
  hashOf(node: NodeName): string | undefined;
  /** True if the pod is of the revision that its node is to run. */
  isOnTarget(pod: PodProjection, node: NodeName | undefined): boolean;
  /** True if the node is to run the former revision. */
  isFormer(node: NodeName): boolean;
  /** Under a policy: pods are of the revision that they name, and no template generation says otherwise. */
  readonly areNamed: boolean;
  /** What pods of the former revision are made of; absent: it was not read yet, or it is gone. */
  readonly former?: FormerTemplate;
}

export interface KeptBack {
  readonly nodes: ReadonlySet<NodeName>;
  /** controller-revision-hash of the former revision; absent: there is none. */
  readonly hash?: string;
  /** Revisions that were halted, or edited away before they were proven: their pods are nowhere on target. */
  readonly unproven: ReadonlySet<string>;
  readonly former?: FormerTemplate;
}

/** Targets of a run; `kept`: of a staged rollout. */
export function findTargets(
  { daemonSet }: View,
  currentHash: string | undefined,
  kept?: KeptBack,
): Targets {
  const templateGeneration = templateGenerationOf(daemonSet);
  const current = { hash: currentHash, templateGeneration };
  const isCurrentPod = kept === undefined ? isUpdated : isNamedUpdated;
  const isFormer = (node: NodeName): boolean => kept?.nodes.has(node) === true;
  return {
    isFormer,
    areNamed: kept !== undefined,
    hashOf: (node) => (isFormer(node) ? kept?.hash : currentHash),
    isOnTarget: (pod, node) => {
      const isCurrent = isCurrentPod(pod, current);
      if (node === undefined || !isFormer(node)) return isCurrent;
      return !isCurrent && kept?.unproven.has(revisionHashOfPod(pod) ?? '') !== true;
    },
    ...(kept?.former?.hash === kept?.hash && kept?.former !== undefined
      ? { former: kept.former }
      : {}),
  };
}
