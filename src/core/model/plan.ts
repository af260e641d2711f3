/**
 * Inputs and the result of one reconcile's decision: pure values in, pure values out.
 *
 * The view is computed once from what was read and passed down; every stage (placement, pods,
 * status, due time) reads that one view. A plan lists what should be done; it has done nothing yet:
 * intents are recorded before effects are sent, and each destructive step is confirmed live first.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { NodeName, ResourceVersion, Uid } from './identifiers.ts';
import type {
  NodeProjection,
  PodProjection,
  RevisionProjection,
  Tombstone,
  PodCause,
} from './projections.ts';
import type { ClusterMode } from './registration.ts';
import type { BackoffEntry, DaemonSetState, HeldRemoval, Intent, RemovalRecord } from './state.ts';
import type { GuardCode, Placement, PlacementReason, Verdict } from './verdict.ts';
import type { PolicyReading } from '../policy/rollout-policy.ts';
import type { CopyWish, FormerTemplate, StagedProgress } from './staged-progress.ts';

/** The facts that were read, before any conclusion. */
export interface ViewInput {
  readonly daemonSet: DaemonSetObject;
  readonly nodes: readonly NodeProjection[];
  /** Pods of this DaemonSet's set: owned ones, and orphans that its selector matches. */
  readonly pods: readonly PodProjection[];
  /** Pods of the set that are gone, as the view remembers them; absent: it remembers none. */
  readonly gone?: readonly Tombstone[];
  readonly revisions: readonly RevisionProjection[];
  readonly nowMs: number;
}

/** Placement of the DaemonSet on one node, and the pods that count there. */
export interface NodeView {
  readonly node: NodeProjection;
  readonly placement: Placement;
  readonly reason: PlacementReason;
  /** Claimed pods whose target it is, in sort order (spec 2.7), without terminal terminating ones. */
  readonly pods: readonly PodProjection[];
  /** Terminal pods held by a finalizer: they block their name, not the node (spec 2.4). */
  readonly held: readonly PodProjection[];
}

/** The view of one reconcile. */
export interface View {
  readonly daemonSet: DaemonSetObject;
  readonly uid: Uid;
  readonly namespace: string;
  readonly name: string;
  readonly nowMs: number;
  /** By node name, ascending: a plan does not depend on input order. */
  readonly nodes: readonly NodeView[];
  /** Claimed pods whose target node is not in the node list, sorted by name. */
  readonly strays: readonly PodProjection[];
  /** Claimed pods without any target node: ignored, counted. */
  readonly untargeted: readonly PodProjection[];
  /** Orphans to adopt and owned pods to release (spec 2.4). Adopted ones are in `nodes` already. */
  readonly toAdopt: readonly PodProjection[];
  readonly toRelease: readonly PodProjection[];
  /** Pods that are gone: what they were called is not used again for a while (S13). */
  readonly gone: readonly Tombstone[];
  readonly revisions: readonly RevisionProjection[];
  /** True while a claimed pod has a name that is not the one to be created (protocol 9). */
  readonly hasForeignNames: boolean;
}

/** Whether the run may act, and if not, why (for verdicts and logs). */
export type Guard =
  | { readonly kind: 'act' }
  | {
      readonly kind: 'status-only' | 'observe';
      readonly code: GuardCode;
      readonly message: string;
    };

/** Intents by what is known of them; each intent is in exactly one list (protocol 3–5). */
export interface IntentJudgement {
  /** Answered, or found met by a live read, but the view does not show it yet. */
  readonly unseen: readonly Intent[];
  /** Not answered: it may still happen. */
  readonly unresolved: readonly Intent[];
  /** Met, void or dead: to be dropped from the state. */
  readonly settled: readonly Intent[];
}

/** The conditions of a plan, beside the view. */
export interface PlanContext {
  readonly guard: Guard;
  /** `copilot`: the built-in controller does all but time rolling updates (core/plan/copilot.ts). Absent: takeover. */
  readonly mode?: ClusterMode;
  readonly state: DaemonSetState;
  /** controller-revision-hash of the current revision, when history knows it. */
  readonly currentHash: string | undefined;
  /** UID of the current revision, where history was looked up: it is never trimmed. */
  readonly currentRevision?: Uid;
  /** By judgeIntents. Absent: judged by identity alone, so that no mark settles anything (conservative). */
  readonly intents?: IntentJudgement;
  /** Per-request time-out against API servers: safety counts on it (protocol 5, request-life.ts). */
  readonly requestTimeoutMs: number;
  /** Cap of creates, and of deletes, of one run (spec 2.1: 250). */
  readonly burstPodsMax: number;
  /** Absent: the rolling update has no stages. */
  readonly staging?: StagingContext;
}

/** The conditions of a staged rollout's plan. */
export interface StagingContext {
  /** Of the DaemonSet's annotation. */
  readonly reading: PolicyReading;
  /** `copilot`: pods are made by the built-in controller, always of its template. */
  readonly mode: 'copilot' | 'takeover';
  /** Era and epoch of the view, as one word: another one restarts a soak. */
  readonly seenView: string;
  /** False: nodes or pods were not heard of lately. */
  readonly isViewFresh: boolean;
  /** How long nothing was heard of them beyond the silence bound, ever (`unheardAfter`). */
  readonly unheardMs: number;
  /** The template that a former revision holds, once it was read: what nodes outside of open steps are given. */
  readonly former?: FormerTemplate;
  /** Causes in the Events of the pods that a need named before. */
  readonly causes?: readonly PodCause[];
}

/** How much of a mass removal goes without confirmation (ADR 0057). */
export interface RemovalRules {
  /** `policy`: every change counts, and the last pod too. `default`: changes of nodes alone, from ten pods on. */
  readonly scope: 'policy' | 'default';
  /** Whole percent of its pods beyond which a mass removal is held; 100: none ever is. */
  readonly percent: number;
}

/** The fate of a mass removal in this run; each is reported once. */
export type RemovalNotice =
  /** It waits for a confirmation from now on. */
  | { readonly kind: 'held'; readonly held: HeldRemoval; readonly suspect: RemovalSuspect }
  /** It happens, and Rollcall cannot hold it: another controller acts here. */
  | { readonly kind: 'alarmed'; readonly held: HeldRemoval; readonly suspect: RemovalSuspect }
  | { readonly kind: 'confirmed'; readonly held: HeldRemoval }
  /** The held removal was taken back. */
  | { readonly kind: 'ended'; readonly held: HeldRemoval };

/** The object whose managedFields may name who made the change. */
export type RemovalSuspect =
  | { readonly kind: 'daemon-set' }
  | { readonly kind: 'node'; readonly node: NodeName; readonly part: 'labels' | 'taints' };

/** A plan's part about a mass removal: the record to be stored, and the reports. */
export interface RemovalOutcome {
  readonly record: RemovalRecord;
  readonly notice?: RemovalNotice;
}

/** One pod to create. */
export interface PlannedCreate {
  readonly node: NodeName;
  readonly name: string;
  /** With a successor name: a live read must still find this pod (faults §4, fencing 1); else look again. */
  readonly predecessor?: { readonly name: string; readonly uid: Uid };
  readonly body: JsonObject;
}

/**
 * Why a pod goes. Of a rolling update (spec 2.9): `outdated`, to make room for its successor (no
 * surge); `replaced`, because the node's pod of the current revision took over (surge); `vacated`,
 * because the node should not run it any more (surge). `repeat`: recorded earlier, not answered.
 */
export type DeleteReason =
  | 'failed'
  | 'succeeded'
  | 'duplicate'
  | 'not-wanted'
  | 'node-gone'
  | 'outdated'
  | 'replaced'
  | 'vacated'
  | 'repeat';

/** One pod to delete, once a live read confirmed it, or its version does (ADR 0071). */
export interface PlannedDelete {
  readonly node?: NodeName;
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
  readonly reason: DeleteReason;
  /** Under a policy: hash of the revision that the node is to run, which the pod must not have. */
  readonly targetHash?: string;
  /** Of a repeat: what it is still wanted for, so that the live read can check just that. */
  readonly repeats?: Exclude<DeleteReason, 'repeat'>;
  /** True if it counts as available now: forbidden while the state was lost (protocol 6). */
  readonly isAvailable: boolean;
}

/** Reason of an Event on a DaemonSet; docs/reference/codes.md is made of these lines. */
export type EventReason =
  /** As the built-in controller writes it: a pod was created. */
  | 'SuccessfulCreate'
  /** As the built-in controller writes it: the API server refused a create. */
  | 'FailedCreate'
  /** As the built-in controller writes it: a pod was deleted. */
  | 'SuccessfulDelete'
  /** As the built-in controller writes it: the API server refused a delete. */
  | 'FailedDelete'
  /** As the built-in controller writes it: a pod failed, and is deleted. */
  | 'FailedDaemonPod'
  /** As the built-in controller writes it: a pod succeeded, and is deleted. */
  | 'SucceededDaemonPod'
  /** As the built-in controller writes it: the selector would select every pod. */
  | 'SelectingAll'
  /** Another DaemonSet controller was seen. Rollcall changes nothing in the cluster any more. */
  | 'ConflictingController'
  /** Another field manager wrote the status. Rollcall does nothing for the DaemonSet for ten minutes. */
  | 'StatusWrittenByAnother'
  /** So many pods would go within ten minutes that a person has to confirm it. */
  | 'RemovalHeld'
  /** The same, in a mode in which Rollcall does not act. */
  | 'RemovalSeen'
  /** A step of a staged rollout opened. */
  | 'RolloutStep'
  /** A staged rollout is over. */
  | 'RolloutComplete'
  /** A staged rollout halted; the message says why. */
  | 'RolloutHalted'
  /** A canary node went NotReady; the message names the node in its place, or says that there is none. */
  | 'RolloutCanaryLost'
  /** The soak of a step began anew three times. */
  | 'RolloutSoakLost'
  /** The policy of the DaemonSet cannot be carried out; the message says why. */
  | 'RolloutNotStaged'
  /** A field of the rollout policy has no effect here; the message names it. */
  /** The rollout policy cannot be read, so the rollout is held; the message says why. */
  | 'InvalidRolloutPolicy'
  /** The API server refused the copy of a good template, so an admission policy would refuse pods of a rollback. */
  | 'CopyRefused'
  /** Rollcall restored the last good template. */
  | 'RolloutRolledBack'
  /** Rollcall could not restore the last good template; the message has the command that does. */
  | 'RollbackRefused';

/** An Event to be written on the DaemonSet (spec 2.8). */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
  /** True of what goes on until a user mends it: the same words are told again after an hour only. */
  readonly isStanding?: boolean;
}

/** How far a rolling update is, and what bounds it (spec 2.9): in nodes, by the plan's one view, before its own effects. */
export interface RolloutProgress {
  readonly desiredNodes: number;
  /** Of those, nodes with a pod of the current revision and none of another. */
  readonly updatedNodes: number;
  /** Nodes that count against maxUnavailable, or maxSurge. */
  readonly unavailableNodes: number;
  /** Which they are, BUDGET_NODES_MAX at most; of a staged rollout without surge. */
  readonly unavailable?: readonly NodeName[];
  readonly surgingNodes: number;
  /** maxUnavailable and maxSurge resolved: one of them is 0. */
  readonly unavailableNodesMax: number;
  readonly surgeNodesMax: number;
  /** Nodes with an old pod that the budget leaves for later. */
  readonly waitingNodes: number;
}

/** Facts that a plan lacks. To add one, name it here and read it in app/reconcile/needs.ts. */
export type PlanNeed =
  /** The template of the former revision of that hash: a pod is to be made of it. */
  | { readonly kind: 'template'; readonly hash: string }
  /** Events of pods that never started, which are about to halt a staged rollout and do not say why. */
  | { readonly kind: 'events'; readonly pods: readonly PodProjection[] };

/** The wishes of one reconcile. */
export interface Plan {
  readonly creates: readonly PlannedCreate[];
  readonly deletes: readonly PlannedDelete[];
  readonly adopts: readonly PodProjection[];
  readonly releases: readonly PodProjection[];
  /** Revisions beyond revisionHistoryLimit that no pod needs (spec 2.11); deleted last. */
  readonly trims: readonly RevisionProjection[];
  /** Present while the strategy is RollingUpdate, or stages are asked for, and the current revision is known. */
  readonly rollout?: RolloutProgress;
  /** How far a staged rollout is after this plan: recorded with its intents; absent: there is none. */
  readonly stages?: StagedProgress;
  /** Reads that this plan still needs; the caller does them, and plans again. */
  readonly needs: readonly PlanNeed[];
  /** Copilot, after a breach with `onHalt: rollback`: hash of the revision whose template the DaemonSet is to have. */
  readonly restores?: string;
  /** Takeover: the copy of the present template that is to be written, or to be looked at. */
  readonly copy?: CopyWish;
  /** Back-off entries as they should be once the deletes of failed pods are recorded. */
  readonly backoff: readonly BackoffEntry[];
  readonly events: readonly PlannedEvent[];
  /** Events of a staged rollout, whether or not this run touches pods. */
  readonly stageEvents: readonly PlannedEvent[];
  /** One for each node, put into words only on request: a run decides nothing by them. */
  readonly verdicts: () => readonly Verdict[];
  /** The status to be written, or undefined when it already stands so. */
  readonly status: DaemonSetStatus | undefined;
  /** When to look again although nothing happens; undefined when no time matters. */
  readonly dueAtMs: number | undefined;
  /** Creates and deletes that the burst cap left for the next run. */
  readonly cappedCount: number;
  /** Absent: this run may not judge shrinks, and what is stored stays. */
  readonly shrink?: RemovalOutcome;
}
