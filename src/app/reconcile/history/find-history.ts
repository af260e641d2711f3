/**
 * The current revision for a run: from the state if nothing changed, else looked up live (spec 2.10).
 *
 * A failure ends the run: nothing else is done without history (spec 2.3 step 6). Where the run may
 * not act, nothing is looked up. After pods were relabelled the run ends too: what it has seen of
 * them is behind, and they would be taken for old ones.
 */
import { defined } from '@rollcall/base/defined.ts';
import { noteWritten } from '../../../core/intents/written-marks.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import type { Guard } from '../../../core/model/plan.ts';
import type { DaemonSetState, HistoryEntry } from '../../../core/model/state.ts';
import type { RunContext, Subject } from '../run/context.ts';
import type { Exit } from '../run/exit.ts';
import { lookUpBuiltInHistory } from './built-in-history.ts';
import { isFreshHistory, knownHistory, lookUpHistory } from './history.ts';
import type { HistoryFailure } from './history-result.ts';
import { generationOf, heldWrite, isRefusedWrite } from '../run/refused-writes.ts';

/** The entry (undefined where it may not be asked for), or the end of the run. */
export type HistoryFinding =
  | {
      readonly kind: 'entry';
      readonly entry: HistoryEntry | undefined;
      /** True if the revisions as seen are those that the entry was told from: they may be trimmed. */
      readonly isSettled: boolean;
    }
  | Exit;

/** Finds the current revision; creates it if there is none. In copilot the built-in controller does that. */
export async function findHistory(
  subject: Subject,
  guard: Guard,
  context: RunContext,
): Promise<HistoryFinding> {
  const { daemonSet, state, basis } = subject;
  const { revisionsChanged } = basis.position;
  const input = { daemonSet, seen: subject.read.revisions, revisionsChanged, known: state.history };
  const known = knownHistory(input);
  const isSettled = known !== undefined && isFreshHistory(known, input);
  if (isSettled || guard.kind !== 'act') return { kind: 'entry', entry: known, isSettled };
  const held = heldWrite('history-refused', subject);
  if (held !== undefined) return endFailed({ ...held, kind: 'failed' }, subject);
  const access = await subject.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access', subject };
  const lookUp = basis.registration.mode === 'copilot' ? lookUpBuiltInHistory : lookUpHistory;
  const found = await lookUp(input, { context, subject, access });
  switch (found.kind) {
    case 'known': {
      const { entry, hasWritten, podsWritten } = found;
      if (podsWritten === undefined) return { kind: 'entry', entry, isSettled: !hasWritten };
      const written = { type: 'pods' as const, resourceVersion: podsWritten };
      const next = { ...raised(subject, written), history: entry };
      const message = 'pods of a duplicate revision were relabelled';
      return lookAgain(message, { ...subject, state: next });
    }
    case 'look-again': {
      const { message, daemonSetWritten } = found;
      const next =
        daemonSetWritten === undefined
          ? state
          : raised(subject, { type: 'daemonSet', resourceVersion: daemonSetWritten });
      return lookAgain(message, { ...subject, state: next });
    }
    case 'failed':
      return endFailed(found, subject);
  }
}

/** Marks of own writes, so that the next run waits until they are seen (spec 2.3 step 1). */
function raised(
  { state, basis }: Subject,
  write: { readonly type: 'pods' | 'daemonSet'; readonly resourceVersion: ResourceVersion },
): DaemonSetState {
  const written = noteWritten(state.written, { ...write, era: basis.meta.era });
  return { ...state, written };
}

function lookAgain(message: string, subject: Subject): Exit {
  const deferral = { code: 'own-writes-unseen', message, delayMs: 0 } as const;
  return { kind: 'deferral', deferral, subject };
}

function endFailed(failure: HistoryFailure, subject: Subject): Exit {
  const { code, message, retryAfterMs } = failure;
  const holdsCreates = code === 'namespace-terminating';
  const generation = isRefusedWrite(code) ? generationOf(subject.daemonSet) : undefined;
  const reason = { code, message, holdsCreates, ...defined({ retryAfterMs, generation }) };
  return { kind: 'back-off', reason, subject };
}
