/**
 * What came of one reconcile, as a closed union: the handler acknowledges every one of them.
 *
 * A run that could not finish has already arranged its next look; only bugs and lost dependencies
 * (table, queue) throw, and end in the dead-letter queue after a few receives (design 3).
 */
import type { NodeName, ResourceVersion, Uid } from '../../../core/model/identifiers.ts';
import { newerVersion } from '../../../core/model/identifiers.ts';
import type { PlannedEvent } from '../../../core/model/plan.ts';
import type { Intent, TemplateCopies } from '../../../core/model/state.ts';
import type { Restoring } from '../../../core/rollout/known-bad.ts';
import type { RemovalAuthor } from '../../../core/removal-guard/removal-author.ts';
import type { SentEffect } from '../../../core/log/effect-entries.ts';
import type { EffectEntry } from '../../../core/model/log-entry.ts';
import type { IntentAnswer } from '../../../core/intents/merge-intents.ts';
import type { Refused, RefusedWrite } from '../../../core/retry/retry.ts';

/** Why a run was put off; each has a timer already. */
export type DeferralCode =
  /** The registry, or the freeze of the stack, could not be read. That counts as frozen. */
  | 'registry-unreadable'
  /** The view waits for a snapshot. */
  | 'view-incomplete'
  /** The view changed during the read, or stands ahead of its position, so that a snapshot was asked for. */
  | 'view-moving'
  /** Nothing was heard of the cluster for 15 minutes; or of its pods for 90 seconds, where a delete spends availability. */
  | 'cluster-silent'
  /** The watcher has not closed a flush yet. */
  | 'cut-open'
  /** The view does not hold the writes of the last run yet. */
  | 'own-writes-unseen'
  /** The API server does not answer, or asked to wait. */
  | 'cluster-unavailable'
  /** The circuit breaker of the cluster is open, since its API server did not answer lately. */
  | 'breaker-open'
  /** The cluster cannot be opened. */
  | 'no-access'
  /** The DaemonSet changed during the run. */
  | 'daemon-set-changed'
  /** Another field manager wrote its status. Rollcall leaves it alone for ten minutes from that write. */
  | 'conflict-suspected'
  /** The cluster has pods that the view does not hold yet. */
  | 'foreign-pods-unseen'
  /** Another run of the same DaemonSet wrote first. */
  | 'lost-race'
  /** Another writer changed the status meanwhile. */
  | 'status-conflict'
  /** The run reached its limit of 250 creates or deletes. */
  | 'capped'
  /** The deadline, a freeze or a change of mode came between two batches. */
  | 'interrupted'
  /** It is not known whether the API server applied a request. */
  | 'outcome-open'
  /** The API server refused a request. The next try waits for a back-off. */
  | 'refused'
  /** The namespace is being deleted. */
  | 'namespace-terminating'
  /** The current ControllerRevision could not be found or made. */
  | 'history'
  /** Copilot: the built-in controller has not made the ControllerRevision of the present template yet. */
  | 'built-in-behind'
  /** A promise would have been broken, so nothing was done (core/plan/invariants.ts). This is a bug. Report it. */
  | 'invariant'
  | RefusedWrite;

/** Why a hint is refused for good: one log line, one metric, nothing lost. */
export type RefusalReason =
  /** No such cluster is registered. */
  | 'unknown-cluster'
  /** The endpoint leads to another cluster than the registered one. Run `rollcall cluster reset` if it was rebuilt. */
  | 'wrong-cluster'
  /** The DaemonSet cannot be read. */
  | 'malformed-daemon-set'
  /** The selector of the DaemonSet is empty, and would select every pod. */
  | 'selecting-all';

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
  | { readonly kind: 'skipped' }
  /** There is no such DaemonSet (any more), or it is being deleted: nothing to do. */
  | { readonly kind: 'absent' | 'terminating' }
  /** Looked, all is as it should be; nothing was sent to the cluster. */
  | { readonly kind: 'settled'; readonly counts: ReconcileCounts }
  /** Something was changed in the cluster, and nothing is left to do until something happens. */
  | { readonly kind: 'acted'; readonly counts: ReconcileCounts }
  /** Not finished; the next look is arranged. It may have acted partly. */
  | {
      readonly kind: 'deferred';
      readonly code: DeferralCode;
      readonly message: string;
      readonly nextLookAtMs: number;
      readonly counts: ReconcileCounts;
    }
  /** Nothing was sent but a status at most: the mode, the freeze or a missing credential allows no more. */
  | { readonly kind: 'observed'; readonly code: string; readonly counts: ReconcileCounts }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string };

/** Counters of a run that changed nothing. */
export const NO_COUNTS: ReconcileCounts = {
  creates: 0,
  deletes: 0,
  patches: 0,
  refused: 0,
  isStatusWritten: false,
};

/** Something that is left to be done, and how soon. */
export interface Problem {
  readonly code: DeferralCode;
  readonly message: string;
  readonly pace: 'soon' | 'backoff';
  /** True if no create may be sent before the back-off ends. */
  readonly holdsCreates?: boolean;
}

/** Notes of one run. */
export class RunResult {
  created = 0;
  deleted = 0;
  patched = 0;
  isStatusWritten = false;
  /** The status was written over the very object that was planned on. */
  isStatusAsSeen = false;
  /** The status was left to the look that follows effects anyway. */
  isStatusPostponed = false;
  /** Pods that were deleted as the view showed them, and had another version (ADR 0071). */
  readonly movedVictims: Uid[] = [];
  /** Nodes whose create was answered otherwise than by a refusal: a former one is void. */
  readonly clearedNodes = new Set<NodeName>();
  readonly refused: Refused[] = [];
  readonly answers: IntentAnswer[] = [];
  readonly settled: Intent[] = [];
  readonly recorded: Intent[] = [];
  readonly events: PlannedEvent[] = [];
  /** What the write of the intents told of effects, and what came of them since. */
  readonly logged: EffectEntry[] = [];
  readonly sent: SentEffect[] = [];
  readonly problems: Problem[] = [];
  /** What came of restoring the template (copilot); undefined: nothing is known to have. */
  restoring: Restoring | undefined;
  /** Who is behind a mass removal that this run holds or tells of, where a live read said so. */
  removalAuthor?: RemovalAuthor;
  /** What is known of copies of templates, if this run saw to one. */
  copies?: TemplateCopies;
  readonly written: { pods?: ResourceVersion; daemonSet?: ResourceVersion } = {};

  /** Notes what is left to be done, if anything. */
  add(problem: Problem | undefined): void {
    if (problem !== undefined) this.problems.push(problem);
  }

  /** Notes why a batch was not started. */
  addStop({ code, message }: Pick<Problem, 'code' | 'message'>): void {
    this.add({ code, message, pace: 'soon' });
  }

  /** Notes a version that a successful write returned (protocol 3). */
  noteWritten(type: 'pods' | 'daemonSet', version: ResourceVersion | undefined): void {
    const newest = newerVersion(this.written[type], version);
    if (newest !== undefined) this.written[type] = newest;
  }

  /** True if pods were touched: their events will cause another look. */
  get hasEffects(): boolean {
    return this.created + this.deleted + this.patched > 0;
  }

  /** True if something was sent, or is to be: a batch after it is not the first of its run (protocol 7). */
  get hasActed(): boolean {
    return this.recorded.length > 0 || this.patched > 0;
  }

  /** True if nothing was deferred, refused, conflicted, ambiguous or postponed (protocol 11). */
  get isComplete(): boolean {
    return this.problems.length === 0 && this.refused.length === 0 && !this.isStatusPostponed;
  }

  /** Counters for logs, metrics and the result. */
  get counts(): ReconcileCounts {
    return {
      creates: this.created,
      deletes: this.deleted,
      patches: this.patched,
      refused: this.refused.length,
      isStatusWritten: this.isStatusWritten,
    };
  }
}
