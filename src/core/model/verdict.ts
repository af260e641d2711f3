/**
 * Verdicts: for one node and one DaemonSet, run / keep / leave, with a reason a person can read.
 *
 * `placement` answers spec 2.5; `code` says in one word why there is (or is not) a pod. Codes are
 * public: docs/reference.md lists each with its meaning and what to do.
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

/** What is the matter on this node now; absent placement trouble, about the pod. */
export type NodeCode =
  | 'Running'
  | 'NotReady'
  | 'Pending'
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
  /** Has a pod of an older revision, which stays until somebody deletes it (OnDelete). */
  | 'Outdated'
  /** Copilot: the built-in controller makes or removes its pod. */
  | 'LeftToBuiltIn'
  | 'WaitingForCluster'
  /** Another daemon of the node is being replaced, or goes first (ADR 0058). */
  /** Its pod would go with so many others that somebody has to confirm it, or it is not clear yet (ADR 0057). */
  | 'HeldByRemovalGuard'
  | 'NotWanted'
  | 'KeptDespiteTaint'
  | 'Blocked'
  | 'Bug';

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
}
