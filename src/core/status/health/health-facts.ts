/**
 * Facts about the whole fleet, and findings on them: the shapes behind `rollcall status` and the STATE of tables.
 */
import type { ClusterMode } from '../../model/registration.ts';
import type { Gate } from '../../model/staged-progress.ts';
import type { RetryEntry, StatusPause } from '../../model/state.ts';
import type { RolloutPhase } from '../../rollout/gate-words.ts';
import type { Generations, PodCounts } from '../../rollout/pod-counts.ts';
import type { LateNodes } from '../../start-up/start-up-words.ts';
import type { Freeze } from '../../may-act/freeze.ts';
import type { NextStep } from '../next-steps.ts';
import type { Outage } from '../outages.ts';

/** How grave: an operator has to look now; an operator has to decide; it goes on by itself. */
export type Severity = 'failing' | 'waiting' | 'coming';

/** How something stands, in one word: the STATE of tables. Public; docs/reference/codes.md lists them. The gravest first. */
export const HEALTH_STATES = [
  ...(['NoClusters', 'Unreadable', 'Rebuilt', 'Conflict', 'Silent', 'StandsBy', 'Behind'] as const),
  ...(['NeverHeard', 'Unreachable', 'Halted', 'Lacking', 'StartingUp', 'Stuck'] as const),
  ...(['Unknown', 'Invalid'] as const),
  ...(['RemovalHeld', 'AwaitsApproval', 'Paused', 'Returned', 'Returning', 'Frozen'] as const),
  ...(['Incomplete', 'Unseen'] as const),
] as const;

/** One of them. */
export type HealthState = (typeof HEALTH_STATES)[number];

/** Nodes without an available pod for one reason. */
export interface MissingReason {
  readonly code: string;
  readonly title: string;
  readonly kind: 'coming' | 'held' | 'failing';
  readonly nodes: number;
}

/** One thing that is not well. */
export interface HealthFinding {
  readonly state: HealthState;
  readonly severity: Severity;
  readonly subject: 'stack' | 'cluster' | 'daemonset' | 'rollout' | 'fleet';
  /** A cluster's id, or namespace/name; empty of the stack. */
  readonly name: string;
  /** In which clusters. */
  readonly clusters: readonly string[];
  /** The fact, as a sentence without its full stop. */
  readonly message: string;
  /** The remedy: a command where there is one. */
  readonly remedy: string;
  /** Of a rollout: that command, and others that apply, in the order in which an operator runs them. */
  readonly next?: readonly NextStep[];
  /** Of a DaemonSet that lacks pods. */
  readonly pods?: { readonly missing: number; readonly desired: number };
  /** Why, as far as it was asked. */
  readonly reasons?: readonly MissingReason[];
}

/** How a rollout stands. */
export interface RolloutFacts {
  readonly phase: RolloutPhase;
  readonly summary: string;
  readonly gate: Gate;
  /** As its own status ends with (next-steps.ts). */
  readonly next: readonly NextStep[];
}

/** One DaemonSet of one cluster. */
export interface SetFacts {
  readonly namespace: string;
  readonly name: string;
  /** Of the status that the watcher told last; absent: its object is not known. */
  readonly counts?: PodCounts & Generations;
  /** Why it is not known, or what of it cannot be read. */
  readonly unknown?: string;
  /** By a policy; absent: none has begun. */
  readonly rollout?: RolloutFacts;
  /** A mass removal that waits for an operator to confirm it, in words. */
  readonly removal?: string;
  readonly retry?: RetryEntry;
  readonly paused?: StatusPause;
  /** Why nodes lack a pod; absent: not asked, or nothing can be told. */
  readonly reasons?: readonly MissingReason[];
}

export interface ClusterFacts {
  readonly id: string;
  readonly mode: ClusterMode;
  /** Of its own: its freeze, its watcher, its runs, its API server. */
  readonly outages: readonly Outage[];
  readonly heardAtMs?: number;
  readonly isViewComplete: boolean;
  readonly incompleteReason?: string;
  readonly conflict?: { readonly seenAtMs: number; readonly evidence: string };
  readonly rebuilt?: { readonly foundUid: string };
  readonly daemonSets: readonly SetFacts[];
  /** Nodes that joined long ago and have their start-up taint; absent: none. */
  readonly late?: LateNodes;
}

/** One FleetDaemonSet. */
export interface FleetRolloutFacts {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly phase: RolloutPhase;
  readonly summary: string;
  /** Absent: no step was made yet. */
  readonly gate?: Gate;
  /** As its own status ends with. */
  readonly next: readonly NextStep[];
  /** Its record cannot be read. */
  readonly isUnreadable?: true;
}

/** All that is known. */
export interface FleetFacts {
  /** Of the whole stack. */
  readonly outages: readonly Outage[];
  readonly frozen: Freeze['daemonSets'];
  readonly clusters: readonly ClusterFacts[];
  /** Registrations that cannot be read. */
  readonly unreadable: readonly { readonly id: string; readonly problem: string }[];
  readonly fleets: readonly FleetRolloutFacts[];
}

export interface WellOf {
  readonly well: number;
  readonly total: number;
}

/** The answer. */
export interface FleetHealth {
  /** `stopped`: nothing acts anywhere, so that what is told is as of before. */
  readonly standing: 'well' | 'not-well' | 'stopped';
  readonly outages: readonly Outage[];
  /** The gravest first. */
  readonly findings: readonly HealthFinding[];
  readonly clusters: WellOf;
  readonly daemonSets: WellOf;
  readonly pods: WellOf;
  readonly fleets: WellOf;
  /** DaemonSets, and pods of theirs, of which it is not known whether they are well: they count as not well. */
  readonly untold: { readonly daemonSets: number; readonly pods: number };
  /** DaemonSets for which no node is eligible: nothing is missing. */
  readonly withoutNodes: number;
}
