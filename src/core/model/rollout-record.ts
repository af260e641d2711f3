/**
 * How far the staged rollout of one DaemonSet is: part of its state, so written by the same compare-and-set as intents.
 *
 * A step is recorded as open by the write that records the first deletes it allows; an operator's order is an edit of the
 * state, too, so a run that has not seen it loses its write and has sent nothing (issue 17: a halt halts within one batch).
 * Absent where no policy asks for stages. Everything in here is bounded: lists keep the newest, and say so.
 */
import type { NodeName, Uid } from './identifiers.ts';

/** A release that passed every step that its policy lets open, or that ran everywhere when its policy was first seen. */
export interface GoodRelease {
  /** The meaning of its template or manifest, as a hash: the same one again is the same release. */
  readonly id: string;
  readonly goodAtMs: number;
  /** True if no soak showed it. */
  readonly isBaseline: boolean;
  /** When another release took its place last; absent: none did. */
  readonly leftAtMs?: number;
}

/** Why a good release is rolled out like one that is new. */
export type OlderReason = 'too-old' | 'too-far-back';

/** A good release, and the revision that held its template last. */
export interface ClusterRelease extends GoodRelease {
  /** controller-revision-hash. */
  readonly hash: string;
}

/** A revision that passed its soak on every canary, or that all nodes ran when the policy was first seen. */
export interface ProvenRevision {
  /** controller-revision-hash. */
  readonly hash: string;
  readonly provenAtMs: number;
  /** True if no soak proved it: it was running everywhere when the policy came. */
  readonly isBaseline: boolean;
}

/** A release that another one took the place of half-way, after its canary: steps that were open stay open when it comes again. */
export interface HalfwayRelease {
  readonly id: string;
  readonly proven: ProvenRevision;
  readonly step: OpenStep;
}

/** Which step is open: none yet (`waiting`), the canary, then the groups of the order, then all (`done`). */
export type StepKind = 'waiting' | 'canary' | 'group' | 'done';

/** The step that was opened last; all before it are open as well. */
export interface OpenStep {
  readonly kind: StepKind;
  /** Of a group: the values of the order's labels, as `zone-a/pool-b`; empty where nothing is ordered. */
  readonly name: string;
  /** -1 while waiting, 0 for the canary, then counting groups as they are opened: for people and `approved`. */
  readonly index: number;
  readonly openedAtMs: number;
  /** Since when all pods of open steps were seen to be well, on our clock; absent: they are not. */
  readonly wellSinceMs?: number;
  /** When a canary had been well for its soak and only a person or a window held what follows; absent: not yet, or not any more. */
  readonly soakedAtMs?: number;
  /** How often its soak had begun and was begun anew before it was over; absent: never. */
  readonly soaksLost?: number;
  /** Sum of times in the dark (META) that `wellSinceMs` takes into account; absent: none, or not known. */
  readonly unheardMs?: number;
  /** When a node was last updated, a step opened, or an order given: what the progress deadline counts from. */
  readonly progressedAtMs: number;
  /** Nodes updated when that was. */
  readonly updatedNodes: number;
  /** True while a pause holds it: the deadline counts from its end. */
  readonly isHeld?: true;
}

/** Why a rollout was halted. Words of events, of `rollcall rollout status` and of logs alike. */
export type BreachCause =
  /** A container of the new revision cannot start. */
  | 'StartFailure'
  /** Two restarts of a container of the new revision. */
  | 'Restarts'
  | 'OOMKilled'
  /** A pod of the new revision could not be created. */
  | 'CreateRefused'
  /** No new pod appeared on a node whose old one is gone. */
  | 'NotRecreated'
  /** A pod of the new revision runs and stays not ready, on a node that is Ready. */
  | 'NotReady'
  /** Pods of the new revision turn not ready again and again. */
  | 'Flapping'
  /** Nodes went bad after their update, and their peers did not: E >= 25, by two nodes at least. */
  | 'NodesFailed'
  /** More nodes are bad than the attributed budget lets pass. */
  | 'Unexplained'
  | 'ProgressDeadlineExceeded'
  /** Our own requests take far longer than they did before the first step opened. */
  | 'ApiServerSlow'
  /** Pods of a good release cannot start, or cannot be created, on the way back to it. */
  | 'ReturnFailed'
  /** This revision was halted or undone before, and came again. */
  | 'KnownBad';

/** A halt, with what showed it. */
export interface Breach {
  readonly cause: BreachCause;
  readonly atMs: number;
  /** In one sentence, with the numbers; no part of an object that may be secret. */
  readonly message: string;
  /** Up to 16 nodes that showed it. */
  readonly nodes: readonly NodeName[];
  /**
   * metadata.generation at which the template of the former revision was restored, or may have been (copilot); absent: it was
   * not. Once the DaemonSet is further, this revision was applied again.
   */
  readonly restoredGeneration?: number;
  /** When the API server refused to restore it last (copilot): it is not asked again for an hour. Absent: it did not. */
  readonly restoreRefusedAtMs?: number;
}

/** A revision that was halted, or undone: the same template again is held. */
export interface RefusedRevision {
  /** As of a GoodRelease. */
  readonly id: string;
  readonly hash: string;
  readonly cause: BreachCause | 'Undone';
  readonly atMs: number;
}

/** The past of a pod of the new revision when it was taken as known (core/health/pod-signs.ts). */
export interface PodBaseline {
  readonly uid: Uid;
  readonly restarts: number;
  /** finishedAt of the last exit, by the kubelet's clock; absent: it had none, or the runtime did not say. */
  readonly exitAtMs?: number;
}

/** How often a pod of the new revision turned not ready after it had been ready (core/health/flapping.ts). */
export interface PodTurns {
  readonly uid: Uid;
  readonly node: NodeName;
  /** readyChangedAtMs and isReady as seen last. */
  readonly changedAtMs: number;
  readonly isReady: boolean;
  readonly turns: number;
  /** When the last of `turns` was seen, on our clock; absent: none was. */
  readonly turnedAtMs?: number;
  /** Start of its node's boot ID when it was first watched: another one now is a reboot; absent: not known. */
  readonly boot?: string;
}

/** A pod of the new revision that is not ready yet (core/stages/observe.ts). */
export interface Awaited {
  readonly uid: Uid;
  /** When it was first seen so, on our clock. */
  readonly sinceMs: number;
  /** readyChangedAtMs as seen then: another one begins anew. */
  readonly changedAtMs?: number;
}

/** A canary node that went NotReady after its turn: what it had shown counts no more (core/stages/canary-losses.ts). */
export interface CanaryLoss {
  readonly node: NodeName;
  /** When it was first seen so, on our clock; each time anew. */
  readonly atMs: number;
  /** It is Ready again, or has no pod to show. */
  readonly isOver?: true;
  /** Nodes of its zone and pool that were not updated went bad within minutes of it: it is no sign of the release. */
  readonly isShared?: true;
  /** The canary that was added in its place. */
  readonly added?: NodeName;
}

/** A node of the trial that failed, for the first time. */
export interface NodeFailure {
  readonly node: NodeName;
  readonly stratum: string;
  readonly isUpdated: boolean;
  readonly atMs: number;
  /** False: it belongs to an outage of its stratum of which another failure was counted. */
  readonly isCounted: boolean;
}

/** Evidence on nodes, with a control group (rollouts facts 4; core/health/trial.ts). */
export interface Trial {
  /** Nodes that joined later are not in it. */
  readonly startedAtMs: number;
  /** Nodes that were bad before their turn: they count on neither side. 500 at most; with more the trial is void. */
  readonly outside: readonly NodeName[];
  /** Nodes that failed since: each is drawn once, whatever becomes of it. 500 at most; with more the trial is void. */
  readonly failed: readonly NodeName[];
  /** ln of the likelihood ratio for each of the hazard ratios 3, 10, 30, 100. */
  readonly logRatios: readonly [number, number, number, number];
  /** The newest failures, 32 at most; those that are not counted are forgotten first. */
  readonly failures: readonly NodeFailure[];
  /** True once an updated node failed without a node to compare it with: that counts for nothing. */
  readonly isWithoutControls: boolean;
  /** More nodes were bad than it can remember: it stands still and proves nothing, until another one starts. */
  readonly isVoid: boolean;
}

/**
 * Orders given through `rollcall rollout` (core/rollout/orders.ts). `paused` outlives the revision that it
 * was given under, so that an operator loses no race against the next template; the others are of `hash` alone, and a new
 * rollout begins without them.
 */
export interface RolloutOrders {
  readonly paused?: OrderNote;
  /** Steps up to this index may open without further approval. */
  readonly approved?: OrderNote & { readonly stepIndex: number };
  /** A breach that was looked at and is overruled: only what happens later, or elsewhere, counts. */
  readonly resumed?: OrderNote & { readonly breach: Breach; readonly why?: string };
  /** Nodes go back from `hash` to this revision of a good release, although nothing was halted. Goes with `resume`. */
  readonly undo?: OrderNote & { readonly to: string };
}

/** Who gave an order, and when. */
export interface OrderNote {
  /** As in a FreezeNote, for people: who may give orders is the AWS credential's business. */
  readonly by: string;
  readonly atMs: number;
}

/** The record of one DaemonSet. */
export interface RolloutRecord {
  /** The revision that is rolled out, or was last: its controller-revision-hash. */
  readonly hash: string;
  /** The meaning of its template (core/rollout/good-releases.ts). */
  readonly id: string;
  readonly startedAtMs: number;
  /** The newest four. */
  readonly good: readonly ClusterRelease[];
  /** Of a release that was good, why it is rolled out like a new one. Absent: it was not, or it is a return. */
  readonly older?: OlderReason;
  /** Absent: none was left so since. */
  readonly halfway?: HalfwayRelease;
  /** Nodes that were to run a pod when it started; percentages are of these or of those of now (policy/share.ts). */
  readonly baseNodes: number;
  readonly step: OpenStep;
  /** How many steps there are after the canary: those that were opened, and those that were left at the last look. Absent: not known. */
  readonly groups?: number;
  /** Names of the groups that were opened, the newest 32: they stay open while they have no node. Absent: none was. */
  readonly opened?: readonly string[];
  /** When its first step opened: what was before it, the new revision did not do. Absent: none was. */
  readonly triedAtMs?: number;
  /** How long the API server took to answer our requests, before that and since; absent: nothing was measured. */
  readonly answers?: AnswerSamples;
  /** What the revision's template asks of a node, and what that of `former` asked; absent: not known. */
  readonly demand?: TemplateDemand;
  readonly formerDemand?: TemplateDemand;
  /** Chosen when the rollout started: they stay the canary although nodes come and go. 500 at most. */
  readonly canary: readonly NodeName[];
  /** Those that were lost in the canary step, and who was added for them. 64 at most. Absent: none was. */
  readonly losses?: readonly CanaryLoss[];
  /** Nodes on which the former revision's pod found no place, and where none is bound since. max(2, 5 %) at most. Absent: none. */
  readonly placeless?: readonly NodeName[];
  /** True for the way back to a good release: all steps are open, nothing soaks. */
  readonly isReturn: boolean;
  /** When a return was over on all nodes: its pods are watched until then. */
  readonly returnedAtMs?: number;
  readonly trial: Trial;
  /** Restarts of pods of the new revision: of a canary as counted last, of a later step when its soak began. More begin the soak anew. */
  readonly restarts: number;
  /** Pods of the new revision that were there before the first step and had restarted. 64 at most. */
  readonly baselines?: readonly PodBaseline[];
  /** Pods of the new revision that are watched for flapping: those that turned go first. 64 at most. */
  readonly turns?: readonly PodTurns[];
  /** Pods of the new revision that are not ready, and since when. 64 at most. */
  readonly awaited?: readonly Awaited[];
  /** Era and epoch of the view that was seen last (core/rollout/soak.ts). */
  readonly seenView: string;
  readonly breach?: Breach;
  /** The last one; this revision itself once its canary passed, until a breach takes that back. */
  readonly proven?: ProvenRevision;
  /** The good release that this rollout left: nodes outside of open steps run it, and a rollback leads to it. */
  readonly former?: ProvenRevision;
  /** The newest eight. */
  readonly refused: readonly RefusedRevision[];
  /** Revisions that began and were edited away before they were proven or halted: the newest eight. Absent: none. */
  readonly abandoned?: readonly string[];
  readonly orders: RolloutOrders;
}

/** The quarter of a minute in which requests ended, as its first millisecond, and what the middle one of them took. */
export type AnswerSample = readonly [quarterMs: number, tookMs: number];

/** Samples by kind of request, the oldest first (core/health/answer-times.ts has the bounds). */
export type AnswerSamples = Readonly<Record<string, readonly AnswerSample[]>>;

/** A pod template's demands on a node, as a record keeps them (core/daemon-set/template-demand.ts). */
export interface TemplateDemand {
  /** Sum of requests by resource, in the resource's own unit: cores, bytes, devices. 16 at most. */
  readonly requests: Readonly<Record<string, number>>;
  /** `TCP/9100`; 32 at most. */
  readonly hostPorts: readonly string[];
}
