/**
 * The current revision for a run: from the state if it still holds, else looked up live (spec 2.10).
 *
 * A failure ends the run: nothing else is done without history (spec 2.3 step 6). Where the run may
 * not act, nothing is looked up.
 */
import type { Guard } from '../../core/model/plan.ts';
import type { HistoryEntry } from '../../core/model/state.ts';
import { effectDeadlineMs } from './context.ts';
import type { RunContext, Subject } from './context.ts';
import { backOffRun } from './defer.ts';
import { endUnavailable } from './end-unavailable.ts';
import { knownHistory, lookUpHistory } from './history.ts';
import type { ReconcileResult } from './result.ts';

/** The entry (undefined where it may not be asked for), or the end of the run. */
export type HistoryEnd =
  | { readonly kind: 'entry'; readonly entry: HistoryEntry | undefined }
  | { readonly kind: 'ended'; readonly result: ReconcileResult };

/** Finds the current revision; creates it if there is none. */
export async function findHistory(
  subject: Subject,
  guard: Guard,
  context: RunContext,
): Promise<HistoryEnd> {
  const { daemonSet, state, basis } = subject;
  const { revisionsChanged } = basis.position;
  const input = { daemonSet, seen: subject.read.revisions, revisionsChanged, known: state.history };
  const known = knownHistory(input);
  if (known !== undefined || guard.kind !== 'act') return { kind: 'entry', entry: known };
  const access = await subject.access.get();
  if (access === undefined) {
    return { kind: 'ended', result: await endUnavailable('no access', context, subject) };
  }
  const found = await lookUpHistory({ ...input, deadlineMs: effectDeadlineMs(context) }, access);
  if (found.kind === 'known') return { kind: 'entry', entry: found.entry };
  const { message } = found;
  const asked =
    found.kind === 'failed' && found.retryAfterMs !== undefined
      ? { retryAfterMs: found.retryAfterMs }
      : {};
  const code = found.kind === 'failed' ? found.code : ('daemon-set-changed' as const);
  const reason = { code, message, holdsCreates: code === 'namespace-terminating', ...asked };
  return { kind: 'ended', result: await backOffRun(reason, { context, subject }) };
}
