/**
 * What came of one reconcile, as a closed union: the handler acknowledges every one of them.
 *
 * A run that could not finish has already arranged its next look; only bugs and lost dependencies
 * (table, queue) throw, and end in the dead-letter queue after a few receives (design 3).
 */
import type { NodeName, ResourceVersion, Uid } from '../../../core/model/identifiers.ts';
import type { PlannedEvent } from '../../../core/model/plan.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import type { Restoring } from '../../../core/rollout/known-bad.ts';
import type { ShrinkAuthor } from '../../../core/interlock/shrink-author.ts';
import type { IntentAnswer } from '../../../core/intents/merge-intents.ts';
import type { Refused } from '../../../core/retry/next-retry.ts';
/** Why a run was put off; each has a timer already. */
export type DeferralCode =
  | 'registry-unreadable'
  | 'view-incomplete'
  | 'view-moving'
  | 'cluster-silent'
  | 'cut-open'
  | 'own-writes-unseen'
  | 'cluster-unavailable'
  | 'breaker-open'
  | 'no-access'
  | 'daemon-set-changed'
  /** Somebody else wrote its status, and of it alone (ADR 0012). */
  | 'rival-suspected'
  | 'foreign-pods-unseen'
  | 'lost-race'
  | 'status-conflict'
  | 'capped'
  | 'interrupted'
  | 'outcome-open'
  | 'refused'
  | 'namespace-terminating'
  | 'history'
  /** Another daemon of a node is being replaced, or goes first (ADR 0058). */
  /** Copilot: the built-in controller has not made the revision of the present template yet. */
  | 'built-in-behind'
  /** A promise would have been broken (core/invariants.ts): only a bug gets here. */
  | 'invariant'
  | RefusedWrite;
/** Writes that the API server says no to, other than of pods: repeated by their back-off, by no hint. */
export type RefusedWrite = 'status-refused' | 'history-refused' | 'claim-refused' | 'trim-refused';
/** Why a hint is refused for good: one log line, one metric, nothing lost. */
export type RefusalReason =
  'unknown-cluster' | 'wrong-cluster' | 'malformed-daemon-set' | 'selecting-all';
/** Counters of one run. */
export interface ReconcileCounts {
  readonly creates: number;
  readonly deletes: number;
  readonly patches: number;
  readonly refused: number;
  readonly isStatusWritten: boolean;
}
/** The end of a run. */
export type ReconcileResult =
  /** The last complete run saw exactly this; nothing but small reads happened. */
  | {
      readonly kind: 'skipped';
    }
  /** There is no such DaemonSet (any more), or it is being deleted: nothing to do. */
  | {
      readonly kind: 'absent' | 'terminating';
    }
  /** Looked, all is as it should be; nothing was sent to the cluster. */
  | {
      readonly kind: 'settled';
      readonly counts: ReconcileCounts;
    }
  /** Something was changed in the cluster, and nothing is left to do until something happens. */
  | {
      readonly kind: 'acted';
      readonly counts: ReconcileCounts;
    }
  /** Not finished; the next look is arranged. It may have acted partly. */
  | {
      readonly kind: 'deferred';
      readonly code: DeferralCode;
      readonly message: string;
      readonly nextLookAtMs: number;
      readonly counts: ReconcileCounts;
    }
  /** Nothing was sent but a status at most: the mode, the freeze or a missing credential allows no more. */
  | {
      readonly kind: 'observed';
      readonly code: string;
      readonly counts: ReconcileCounts;
    }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly message: string;
    };
/** Counters of a run that changed nothing. */
export declare const NO_COUNTS: ReconcileCounts;
/** Something that is left to be done, and how soon. */
export interface Problem {
  readonly code: DeferralCode;
  readonly message: string;
  readonly pace: 'soon' | 'backoff';
  readonly retryAfterMs?: number;
  /** True if no create may be sent before the back-off ends. */
  readonly holdsCreates?: boolean;
}
/** Notes of one run. */
export declare class RunResult {
  created: number;
  deleted: number;
  patched: number;
  isStatusWritten: boolean;
  /** The status was written over the very object that was planned on. */
  isStatusAsSeen: boolean;
  /** The status was left to the look that follows effects anyway. */
  isStatusPostponed: boolean;
  /** Pods that were deleted as the view showed them, and had another version (ADR 0071). */
  readonly movedVictims: Uid[];
  /** Nodes whose create was answered otherwise than by a refusal: a former one is void. */
  readonly clearedNodes: Set<NodeName>;
  readonly refused: Refused[];
  readonly answers: IntentAnswer[];
  readonly settled: Intent[];
  readonly recorded: Intent[];
  readonly events: PlannedEvent[];
  readonly problems: Problem[];
  /** What came of restoring the template (copilot); undefined: nothing is known to have. */
  restoring: Restoring | undefined;
  /** Who is behind a shrink that this run holds or tells of, where a live read said so. */
  shrinkAuthor?: ShrinkAuthor;
  /** What is known of copies of templates, if this run saw to one. */
  copies?: NonNullable<DaemonSetState['copies']>;
  readonly written: {
    pods?: ResourceVersion;
    daemonSet?: ResourceVersion;
  };
  /** Notes what is left to be done, if anything. */
  add(problem: Problem | undefined): void;
  /** Notes why a batch was not started. */
  addStop({ code, message }: Pick<Problem, 'code' | 'message'>): void;
  /** Notes a version that a successful write returned (protocol 3). */
  noteWritten(type: 'pods' | 'daemonSet', version: ResourceVersion | undefined): void;
  /** True if pods were touched: their events will cause another look. */
  get hasEffects(): boolean;
  /** True if nothing was deferred, refused, conflicted, ambiguous or postponed (protocol 11). */
  get isComplete(): boolean;
  /** Counters for logs, metrics and the result. */
  get counts(): ReconcileCounts;
}
