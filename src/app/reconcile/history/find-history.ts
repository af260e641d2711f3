/**
 * The current revision for a run: from the state if nothing changed, else looked up live (spec 2.10).
 *
 * A failure ends the run: nothing else is done without history (spec 2.3 step 6). Where the run may
 * not act, nothing is looked up. After pods were relabelled the run ends too: what it has seen of
 * them is behind, and they would be taken for old ones.
 */
import { defined } from '@rollcall/base/defined.ts';
import { noteWritten } from '../../../core/intents/intents.ts';
import { uid, type ResourceVersion } from '../../../core/model/identifiers.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type { Answers, LoadedInput, RunContext, Step } from '../run/context.ts';
import type { Exit } from '../run/exit.ts';
import { isFreshHistory, knownHistory, lookUpHistory, entryOf, knownUidOf } from './history.ts';
import { unreadable, type HistoryFailure, type HistoryResult } from './history-result.ts';
import { generationOf, isObserved } from '../../../core/daemon-set/generation.ts';
import { heldWrite, isRefusedWrite } from '../../../core/retry/retry.ts';
import { isBuiltInCurrent, newestRevision } from '../../../core/history/history-match.ts';
import type { HistoryLook } from './history.ts';

type HistoryFinding =
  { readonly kind: 'found'; readonly history: NonNullable<Answers['history']> } | Exit;

/** What the state knows of the current revision; settled: nothing that it was told from has changed since. */
export function storedHistory(input: LoadedInput): NonNullable<Answers['history']> {
  const look = lookOf(input);
  const entry = knownHistory(look);
  return { entry, isSettled: entry !== undefined && isFreshHistory(entry, look) };
}

function lookOf({ daemonSet, state, stored, read }: LoadedInput): HistoryLook {
  const { revisionsChanged } = stored.position;
  return { daemonSet, seen: read.revisions, revisionsChanged, known: state.history };
}

/** Finds the current revision live; creates it if there is none. In copilot the built-in controller does that. */
export async function findHistory(
  input: LoadedInput,
  context: RunContext,
): Promise<HistoryFinding> {
  const { state, stored } = input;
  const look = lookOf(input);
  const held = heldWrite('history-refused', input);
  if (held !== undefined) return endFailed({ ...held, kind: 'failed' }, input);
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access', input };
  const lookUp = stored.registration.mode === 'copilot' ? lookUpBuiltInHistory : lookUpHistory;
  const found = await lookUp(look, { context, input, access });
  switch (found.kind) {
    case 'known': {
      const { entry, hasWritten, podsWritten } = found;
      if (podsWritten === undefined) {
        return { kind: 'found', history: { entry, isSettled: !hasWritten } };
      }
      const written = { type: 'pods' as const, resourceVersion: podsWritten };
      const next = { ...raised(input, written), history: entry };
      const message = 'pods of a duplicate revision were relabelled';
      return lookAgain(message, { ...input, state: next });
    }
    case 'look-again': {
      const { message, daemonSetWritten } = found;
      const next =
        daemonSetWritten === undefined
          ? state
          : raised(input, { type: 'daemonSet', resourceVersion: daemonSetWritten });
      return lookAgain(message, { ...input, state: next });
    }
    case 'failed':
      return endFailed(found, input);
  }
}

/** Marks of own writes, so that the next run waits until they are seen (spec 2.3 step 1). */
function raised(
  { state, stored }: LoadedInput,
  write: { readonly type: 'pods' | 'daemonSet'; readonly resourceVersion: ResourceVersion },
): DaemonSetState {
  const written = noteWritten(state.written, { ...write, era: stored.meta.era });
  return { ...state, written };
}

function lookAgain(message: string, input: LoadedInput): Exit {
  const deferral = { code: 'own-writes-unseen', message, delayMs: 0 } as const;
  return { kind: 'deferral', deferral, input };
}

function endFailed(failure: HistoryFailure, input: LoadedInput): Exit {
  const { code, message } = failure;
  const holdsCreates = code === 'namespace-terminating';
  const generation = isRefusedWrite(code) ? generationOf(input.daemonSet) : undefined;
  const reason = { code, message, holdsCreates, ...defined({ generation }) };
  return { kind: 'back-off', reason, input };
}

// In copilot the built-in controller makes the revision; nothing is written. Waiting for it ends with what the watcher
// reports next; the key's back-off is only the backstop, so one that stands still costs ever fewer looks (L5).

/** Looks which revision the built-in controller made of the present template. */
async function lookUpBuiltInHistory(
  look: HistoryLook,
  { access }: Pick<Step, 'access'>,
): Promise<Extract<HistoryResult, { kind: 'known' | 'failed' }>> {
  const { daemonSet } = look;
  if (!isObserved(daemonSet)) return behind('has not seen the present generation');
  const newest = newestRevision(daemonSet, look.seen);
  if (newest === undefined) return behind('has made no revision');
  const { namespace, name } = newest;
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return unreadable(live);
  const isSeen = live.kind === 'found' && uid(live.object.metadata.uid) === newest.uid;
  if (!isSeen || !isBuiltInCurrent(daemonSet, live.object, knownUidOf(look, [live.object]))) {
    return behind('has not made the revision of the present template');
  }
  return { kind: 'known', entry: entryOf(live.object, look), hasWritten: false };
}

function behind(what: string): HistoryFailure {
  const message = `the built-in controller ${what}; waiting for it`;
  return { kind: 'failed', code: 'built-in-behind', message };
}
