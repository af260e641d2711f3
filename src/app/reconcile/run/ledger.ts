/**
 * What one run did, noted while it does it: the only mutable thing of a run.
 *
 * Everything that keeps a run from being complete is a problem with a pace: `soon` is looked at again
 * in a second or two, `backoff` waits longer each time. A run without problems may write its memo.
 */
import type { NodeName, ResourceVersion, Uid } from '../../../core/model/identifiers.ts';
import { newerVersion } from '../../../core/model/identifiers.ts';
import type { PlannedEvent } from '../../../core/model/plan.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import type { Restoring } from '../../../core/rollout/known-bad.ts';
import type { ShrinkAuthor } from '../../../core/interlock/shrink-author.ts';
import type { IntentAnswer } from '../../../core/intents/merge-intents.ts';
import type { DeferralCode, ReconcileCounts } from './result.ts';
import type { Refused } from '../process/retry.ts';

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
export class Ledger {
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
  readonly problems: Problem[] = [];
  /** What came of restoring the template (copilot); undefined: nothing is known to have. */
  restoring: Restoring | undefined;
  /** Who is behind a shrink that this run holds or tells of, where a live read said so. */
  shrinkAuthor?: ShrinkAuthor;
  /** What is known of copies of templates, if this run saw to one. */
  copies?: NonNullable<DaemonSetState['copies']>;
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
