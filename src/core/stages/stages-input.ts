/**
 * The input and the result of a staged rollout's decision.
 *
 * Values only: what one run knows of the cluster and of the record, and what it decides. The record and the gate, which
 * others read as well, are of the model (model/staged-progress.ts).
 */
import type { PodCause, PodProjection } from '../model/projections.ts';
import type { TemplateDemand, RolloutRecord } from '../model/rollout-record.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { PlannedEvent } from '../model/plan.ts';
import type { RefusalEntry } from '../model/state.ts';
import type { StagedProgress } from '../model/staged-progress.ts';
import type { RolloutPolicy } from '../policy/rollout-policy.ts';
import type { StageNode } from './stage-node.ts';

export interface StagesInput {
  readonly policy: RolloutPolicy;
  /** As the state has it; absent: a policy is seen for the first time. */
  readonly record: RolloutRecord | undefined;
  /** controller-revision-hash of the DaemonSet's template. */
  readonly hash: string;
  /** The meaning of that template. */
  readonly id: string;
  /** metadata.generation of the DaemonSet; 0 where the API server tells none. */
  readonly generation: number;
  /** In the order of the view. */
  readonly nodes: readonly StageNode[];
  /**
   * Nodes that keep their pod and would get none now: a control plane taints each node that turns NotReady, and daemon pods do not tolerate
   * that. They are in no step, and what became of them is evidence. Absent: none.
   */
  readonly keptNodes?: readonly StageNode[];
  /** Creates that were refused, as the state remembers them; none in copilot. */
  readonly refusals: readonly RefusalEntry[];
  readonly nowMs: number;
  /** Era and epoch of the view: another watcher, or another history, restarts a soak. */
  readonly seenView: string;
  /** False: nodes or pods were not heard of lately, so nothing that is seen counts as success. */
  readonly isViewFresh: boolean;
  /** Sum of all times in the dark: what fell into a soak does not count. */
  readonly unheardMs: number;
  /** minReadySeconds, in milliseconds. */
  readonly minReadyMs: number;
  /** maxUnavailable of the DaemonSet's own strategy, of the fewer nodes of then and now; where the policy says none. */
  readonly strategyUnavailable: number;
  /** True where pods are made by Rollcall, so that a node can be given the former revision (takeover). */
  readonly isStageTrue: boolean;
  /** The template's demands on a node; absent: unknown. */
  readonly demand?: TemplateDemand;
  /** The Events of pods that never started, once they were asked for (`Stages.asksEventsOf`). */
  readonly causes?: readonly PodCause[];
  /** Names the rollout where something is drawn by hash: the DaemonSet's UID and `id`, which a plan of an edit knows before any revision has a hash. */
  readonly rolloutId: string;
}

/** The decisions of one run. */
export interface Stages extends StagedProgress {
  /** Nodes whose old pod may be replaced now, as far as the budget goes. */
  readonly open: ReadonlySet<NodeName>;
  /** Nodes that are to run the former revision: outside of open steps, or all of them after a breach. */
  readonly former: ReadonlySet<NodeName>;
  /** Nodes that have their turn after all others: those that a good release returns to and never ran on. */
  readonly last: ReadonlySet<NodeName>;
  /** Nodes that may be without a well pod at the same time. */
  readonly maxUnavailable: number;
  /** Nodes that went bad by themselves, and do not count against it. */
  readonly excused: ReadonlySet<NodeName>;
  /** When time alone opens or breaks something. */
  readonly untilMs: readonly number[];
  readonly events: readonly PlannedEvent[];
  /** Pods that halt the rollout and say nothing of why: their Events are to be asked, and the plan made again. */
  readonly asksEventsOf: readonly PodProjection[];
}
