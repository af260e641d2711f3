/**
 * Verdicts: for one node and one DaemonSet, run / keep / leave, with a reason a person can read.
 *
 * `placement` answers spec 2.5; `code` says in one word why there is (or is not) a pod. Codes are
 * public: docs/reference/codes.md lists each with its meaning and what to do.
 */
import type { AffinityMismatch } from '@rollcall/base/node-affinity.ts';
import type { NodeName } from './identifiers.ts';

/** run: should have a pod. keep: may keep one, gets no new one. leave: its pods go. */
export type Placement = 'run' | 'keep' | 'leave';

/** Why placement came out as it did. */
export type PlacementReason =
  | { readonly code: 'Eligible' }
  | { readonly code: 'OtherNodeName'; readonly wanted: string }
  | { readonly code: 'NodeSelectorMismatch'; readonly label: string }
  | AffinityMismatch
  | { readonly code: 'TaintNotTolerated'; readonly taint: string };

/** The trouble on this node now: of placement, else of the pod. */
export type NodeCode =
  | 'Running'
  /** Runs, its node is ready, and it is not. */
  | 'NotReady'
  | 'NodeNotReady'
  /** Its containers are ready, and a readiness gate withholds it. */
  | 'ReadinessGatesNotReady'
  /** Is bound or waits for the scheduler, and nothing is wrong so far. */
  | 'Pending'
  | 'SchedulingGated'
  | 'Unschedulable'
  | 'ImagePullBackOff'
  /** A Secret, a ConfigMap or a key of one is missing. */
  | 'CreateContainerConfigError'
  /** The runtime cannot make or start a container. */
  | 'CreateContainerError'
  | 'CrashLoopBackOff'
  /** Bound for longer than a start takes: a volume, the network or the kubelet is not there. */
  | 'ContainerCreating'
  | 'Creating'
  | 'Deleting'
  | 'WaitingForTermination'
  /** An earlier request may still make a pod there: another name is used once it is dead. */
  | 'WaitingForRequest'
  | 'FailedBackoff'
  | 'Refused'
  | 'WaitingForBurst'
  /** Has a pod of an older revision, and its turn in the rolling update has not come. */
  | 'WaitingForRollout'
  /** Is to run the last good revision, whose template cannot be read now. */
  | 'WaitingForRevision'
  /** The rolling update replaces its pod now. */
  | 'Updating'
  /** Has a pod of an older revision, which stays until a user deletes it (OnDelete). */
  | 'Outdated'
  /** Copilot: the built-in controller makes or removes its pod. */
  | 'LeftToBuiltIn'
  | 'WaitingForCluster'
  /** Its pod would go with so many others that an operator has to confirm it, or it is not clear yet (ADR 0057). */
  | 'HeldByRemovalGuard'
  | 'NotWanted'
  | 'KeptDespiteTaint'
  | 'Blocked';

/** A reason that keeps runs from acting. */
export type GuardCode =
  | 'view-incomplete'
  | 'cluster-silent'
  | 'cut-open'
  | 'own-writes-unseen'
  | 'frozen'
  | 'observe-mode'
  | 'conflicting-controller'
  /** Another client wrote the status of this DaemonSet, and of it alone. */
  | 'conflict-suspected'
  | 'sentinel-missing'
  | 'cluster-unavailable'
  | 'no-access'
  /** Told only: no run comes to be guarded (core/status/outages.ts). */
  | 'stopped'
  | 'watcher-stands-by'
  | 'functions-behind'
  /** Copilot: the DaemonSet has no part in it (core/may-act/opt-in.ts). */
  | 'not-opted-in'
  | 'rolling-update';

/** One node's verdict. */
export interface Verdict {
  readonly node: NodeName;
  readonly placement: Placement;
  readonly reason: PlacementReason;
  readonly code: NodeCode;
  readonly pod?: string;
  /** A sentence for a person: what, why, what next. */
  readonly message: string;
  /** When it will be looked at again for this reason, if a time is known. */
  readonly untilMs?: number;
  /** The reason that keeps runs from acting on this node; of `WaitingForCluster`. */
  readonly guard?: GuardCode;
  /** The text that nodes with the same trouble share: it names no node and no pod. Absent: the message without them. */
  readonly matter?: string;
  /** Better than that of the code's table (core/status/reasons.ts), as it holds names. */
  readonly remedy?: string;
}
