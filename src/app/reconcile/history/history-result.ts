/**
 * How a look at the history of a DaemonSet can end, as closed unions.
 *
 * Every end but `known` ends the run: nothing else is done without history (spec 2.3 step 6).
 */
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { HistoryEntry } from '../../../core/model/state.ts';
import type { Unavailable } from '../../../ports/cluster/cluster-access.ts';
import type { DeferralCode } from '../run/result.ts';

/** The look failed; nothing else runs, and the next look waits longer each time (spec 2.3 step 6). */
export interface HistoryFailure {
  readonly kind: 'failed';
  readonly code: DeferralCode;
  readonly message: string;
}

/** Something was written whose effect has to be seen first: look again soon. */
export interface HistoryPause {
  readonly kind: 'look-again';
  readonly message: string;
  /** Version that our own status write returned. */
  readonly daemonSetWritten?: ResourceVersion;
}

/** The current revision once everything is in order, or why not. */
export type HistoryEnd =
  | {
      readonly kind: 'done';
      readonly current: KubernetesObject;
      readonly hasWritten: boolean;
      readonly podsWritten?: ResourceVersion;
    }
  /** An orphan that cannot be adopted: to be planned without. */
  | { readonly kind: 'unadoptable'; readonly uid: string }
  | HistoryPause
  | HistoryFailure;

export type HistoryResult =
  | {
      readonly kind: 'known';
      readonly entry: HistoryEntry;
      /** True if revisions were changed: the set as seen is behind. */
      readonly hasWritten: boolean;
      /** Highest version that a relabelled pod got: what was seen of pods is behind. */
      readonly podsWritten?: ResourceVersion;
    }
  | HistoryPause
  | HistoryFailure;

export function historyFailure(outcome: Outcome, what: string): HistoryFailure {
  if (outcome.kind === 'refused') {
    const isClosing =
      outcome.code === 'namespace-terminating' || outcome.code === 'namespace-missing';
    const code = isClosing ? 'namespace-terminating' : 'history-refused';
    return { kind: 'failed', code, message: `${what}: ${outcome.message}` };
  }
  if (outcome.kind === 'unsent' && outcome.retryAfterMs !== undefined) {
    return { kind: 'failed', code: 'history', message: what };
  }
  return { kind: 'failed', code: 'history', message: `${what}: ${outcome.kind}` };
}

export function unreadable(read: Unavailable): HistoryFailure {
  return { kind: 'failed', code: 'history', message: read.message };
}
