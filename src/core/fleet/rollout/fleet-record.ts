/**
 * How far the rollout of a FleetDaemonSet is: the record of the fleet, and one for each cluster that was given a release.
 *
 * The record of the fleet is one small item; it is changed by compare-and-set, by the function `fleet` and by operators' orders alike, so
 * a step that did not see an order loses its write, and has sent nothing by then. Clusters have items of their own, written by `fleet`
 * alone before anything is sent there. Lists in here are bounded.
 */
import type { ClusterId, ClusterUid, NodeName } from '../../model/identifiers.ts';
import type { GoodRelease, OlderReason, OrderNote } from '../../model/rollout-record.ts';
import type { Gate } from '../../model/staged-progress.ts';
import type { FleetPool } from '../attribution/fleet-pool.ts';
import type { FleetKey } from '../fleet-daemon-set.ts';
import type { ClusterFailureCause } from './failure-class.ts';

/** One state of a FleetDaemonSet that was applied: a generation, and the document that it was. */
export interface FleetRelease {
  readonly generation: number;
  /** Names the stored document. */
  readonly documentId: string;
  readonly appliedAtMs: number;
  readonly appliedBy: string;
  /** Of what it gives clusters (manifest and overrides): the same content applied again is the same. */
  readonly contentHash: string;
}

/** A release that passed every stage but the last, or all. Its `id` is its contentHash. */
export interface GoodFleetRelease extends FleetRelease, GoodRelease {}

/** Why a fleet was halted. Words of events, of `rollcall fleet status` and of logs alike. */
export type FleetBreachCause =
  /** The release failed in more clusters than the stage forgives; each has its own cause. */
  | 'ClustersFailed'
  /** More clusters than the stage forgives could not take it, or did not keep it: nothing of the release was seen there. */
  | 'ClustersNotUpdated'
  /** Most clusters of a stage fell silent after they were given it. */
  | 'ClustersSilent'
  /** Nodes went bad after their update across clusters, and their peers did not: E >= 20. */
  | 'NodesFailed'
  | 'ProgressDeadlineExceeded'
  /** This content was halted or undone before, and was applied again. */
  | 'KnownBad'
  /** The release that clusters go back to failed in more of them than a stage forgives: the others stay as they are. */
  | 'ReturnFailed';

export type BreachGrounds =
  /** One cluster shows it, and others have the release: its word halts, and changes none of them. */
  | 'one-cluster'
  /** It lies with clusters (failure-class.ts): nothing speaks against the release, which counts as neither bad nor unproven. */
  | 'place';

/** A halt of the fleet, with what showed it. */
export interface FleetBreachNote {
  readonly cause: FleetBreachCause;
  readonly atMs: number;
  /** In one sentence, with the numbers. */
  readonly message: string;
  /** Up to 16 clusters that showed it. */
  readonly clusters: readonly ClusterId[];
  /** Absent: two clusters show it, or the only one that has the release, so it leads back where the strategy says so. */
  readonly grounds?: BreachGrounds;
}

/** Content that was halted, or undone. */
export interface RefusedContent {
  readonly contentHash: string;
  readonly cause: FleetBreachCause | 'Undone';
  readonly atMs: number;
}

/** Orders of operators. `paused` outlives the release that it was given under. */
export interface FleetOrders {
  readonly paused?: OrderNote;
  /** Of this release: its gates up to this one are agreed to. Gate 2k is before stage k, gate 2k+1 after it. */
  readonly approved?: OrderNote & { readonly stepIndex: number };
  /** A breach that was looked at and is overruled: only what comes later counts. */
  readonly resumed?: OrderNote & { readonly breach: FleetBreachNote; readonly why?: string };
  /** Every cluster that has this release goes back to the one that was good before. */
  readonly undo?: OrderNote;
}

/** Clusters of a stage, or of the ring, in their order: stored under this id, in pages, and never changed. */
export interface MemberList {
  /** Empty where there is none: count is 0. */
  readonly id: string;
  readonly count: number;
}

/** A list without clusters. */
export const NO_MEMBERS: MemberList = { id: '', count: 0 };

/** A stage as it was assigned. */
export interface StageAssignment {
  readonly name: string;
  readonly members: MemberList;
  /** True where it names clusters by name or label, and none is like that, not even one out of reach: it holds (Reddit 2023-03-14). */
  readonly namesNobody: boolean;
}

/** The record of the rollout of one FleetDaemonSet. */
export interface FleetRecord extends FleetKey {
  /** Of the FleetDaemonSet: one made anew under its name begins anew. */
  readonly uid: string;
  /** Compare-and-set counter; 0: there is no item yet. */
  readonly version: number;
  readonly release: FleetRelease;
  readonly startedAtMs: number;
  /** The stage that is open; -1: none yet; stages.length: all passed. Those before it passed. */
  readonly stage: number;
  /** When that one opened. */
  readonly stageOpenedAtMs: number;
  /** Since when all clusters of open stages were well, by our clock; absent: they are not. */
  readonly wellSinceMs?: number;
  /** The progress deadline counts from here. */
  readonly progressedAtMs: number;
  /** Assigned when the rollout began, and again when a registration changed. */
  readonly stages: readonly StageAssignment[];
  /** Clusters that were offline when their stage was assigned or passed, or came late: they get what is good, when they are back. */
  readonly ring: MemberList;
  /** Revision of the registry when they were assigned (RegistryRevisionStore). */
  readonly registryRevision: number;
  readonly dealtAtMs: number;
  /** Placed, and not Rollcall's to change, when they were assigned. */
  readonly untouchedClusters: number;
  /** Clusters of the ring are looked at again after this. */
  readonly ringDueAtMs: number;
  /** Clusters of a rollout that is over are looked at for drift after this. */
  readonly driftDueAtMs: number;
  /** Clusters whose template, or policy, was another one at that look; absent: none. */
  readonly drifted?: Drifted;
  /** Small clusters compared with each other; absent: no stage of two of them was open yet, or all passed. */
  readonly pool?: FleetPool;
  readonly breach?: FleetBreachNote;
  /** Good releases, the newest first, this one among them once it is good: the ring is given the first (way-back.ts). */
  readonly good: readonly GoodFleetRelease[];
  /** True of content that was good, and left lately: clusters go back to it at once. Absent: it goes by stages, or they are back. */
  readonly isReturn?: true;
  /** Why good content goes by stages all the same; absent: it was not good before. */
  readonly older?: OlderReason;
  /** The newest eight. */
  readonly refused: readonly RefusedContent[];
  readonly orders: FleetOrders;
  /** Decisions of the last write, 16 at most: told after it, and once more by the next step, since a process may die in between. */
  readonly untold: readonly UntoldDecision[];
  /** The gate that the last step found, for people. */
  readonly gate: FleetGate;
  /** Of the open stage, as the last step counted. */
  readonly counts: FleetCounts;
  /** No step is needed before this. */
  readonly dueAtMs: number;
}

/** Clusters of a stage, each in one of these. */
export interface FleetCounts {
  readonly waiting: number;
  readonly rolling: number;
  readonly well: number;
  readonly failed: number;
  /** Neither block nor count. */
  readonly offline: number;
  readonly untouched: number;
  /** Given what is good, in the ring of those that came back, and not known to run it yet. */
  readonly returning: number;
}

/** The gate of a fleet. Public; docs/reference/codes.md lists the kinds. */
export type FleetGate =
  | Extract<Gate, { readonly kind: ToldGate }>
  | { readonly kind: 'updating' }
  | { readonly kind: 'paused' }
  /** Its document is none to this release of Rollcall, or renders to no DaemonSet somewhere. */
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'done' };

type ToldGate =
  | 'soaking'
  | 'approval'
  | 'window'
  | 'breach'
  | 'returning'
  | 'returned'
  | 'frozen'
  | 'no-evidence'
  | 'refused'
  | 'next';

/** Kind of a decision. The type of its CloudEvent is `dev.rollcall.fleet.<kind>`. */
export type FleetDecisionKind =
  | 'rollout-started'
  | 'stage-opened'
  | 'cluster-failed'
  | 'halted'
  | 'rollback-started'
  | 'rolled-back'
  | 'paused'
  | 'resumed'
  | 'approved'
  | 'completed';

/** A decision that is to be told. */
export interface UntoldDecision {
  /** Its id, the same at each publication. */
  readonly id: string;
  readonly kind: FleetDecisionKind;
  readonly atMs: number;
  readonly message: string;
  /** The cluster that it is about, where it is about one. */
  readonly cluster?: ClusterId;
}

/** Clusters that other clients changed after the rollout. */
export interface Drifted {
  readonly count: number;
  /** Up to 16 of them. */
  readonly clusters: readonly ClusterId[];
}

/** Where a cluster belongs: a stage of the open rollout, or the ring of those that came back. */
export type ClusterPlace = number | 'ring';

/** How a cluster fares with what it was given. */
export type ClusterPhase =
  /** Recorded, and not known to have arrived. */
  | 'applying'
  | 'rolling'
  /** All of its nodes, or all that the stage asked for, run it and are well. */
  | 'well'
  | 'failed'
  /** Given the release that was good before, and not known to run it yet; then `returned`. */
  | 'returning'
  | 'returned';

export interface ClusterFailure {
  readonly cause: ClusterFailureCause;
  readonly message: string;
  readonly atMs: number;
  /** Up to 16. */
  readonly nodes: readonly NodeName[];
}

/** The record of one cluster of a fleet. */
export interface FleetClusterRecord {
  readonly cluster: ClusterId;
  /** Another one by now: it was rebuilt, and has nothing of this. */
  readonly clusterUid: ClusterUid;
  /** Compare-and-set counter; 0: there is no item yet. */
  readonly version: number;
  readonly place: ClusterPlace;
  /** Which release it was given last: for people. */
  readonly generation: number;
  /** Its content: what decides whether a cluster has a release. */
  readonly contentHash: string;
  /** Of the template that it was given (render-fleet.ts). */
  readonly hash: string;
  /** When it was given that: evidence counts from here. */
  readonly openedAtMs: number;
  /** metadata.generation that the API server answered; absent: it has not yet. */
  readonly appliedGeneration?: number;
  /** Only so many of its nodes (a first stage with `nodes`). */
  readonly isPartial: boolean;
  /** Given without approval and windows, on its way back; the whole policy follows once it is there. Absent: it has that. */
  readonly isUngated?: true;
  readonly phase: ClusterPhase;
  readonly wellSinceMs?: number;
  readonly failure?: ClusterFailure;
  /** Nodes that run it, of those that should, as seen last. */
  readonly nodes?: { readonly updated: number; readonly desired: number };
  /**
   * Who took it back, and how often since when: three times in ten minutes is a loop. `isOpen`: the last one was counted, and it
   * was not given it again since.
   */
  readonly reverts?: {
    readonly count: number;
    readonly sinceMs: number;
    readonly by: string;
    readonly isOpen?: true;
  };
  /** Attempts to apply that were not answered, since it was opened. */
  readonly attempts: number;
  /** Not tried, or looked at, again before this. */
  readonly dueAtMs: number;
}
