/**
 * The current revision of a run in copilot: one GET of the newest revision that the view shows; nothing is written.
 *
 * Waiting ends with what the watcher reports next (a revision, a status); the key's back-off is only the backstop, and a
 * built-in controller that stands still costs ever fewer looks (L5).
 */
import type { Step } from '../run/context.ts';
import { uid } from '../../../core/model/identifiers.ts';
import {
  isBuiltInCurrent,
  isBuiltInDone,
  newestRevision,
} from '../../../core/history/built-in-history.ts';
import { entryOf, knownUidOf } from './history.ts';
import type { HistoryInput } from './history.ts';
import { unreadable } from './history-result.ts';
import type { HistoryFailure, HistoryResult } from './history-result.ts';

/** Looks which revision the built-in controller made of the present template. */
export async function lookUpBuiltInHistory(
  input: HistoryInput,
  { access }: Pick<Step, 'access'>,
): Promise<Extract<HistoryResult, { kind: 'known' | 'failed' }>> {
  const { daemonSet } = input;
  if (!isBuiltInDone(daemonSet)) return behind('has not seen the present generation');
  const newest = newestRevision(daemonSet, input.seen);
  if (newest === undefined) return behind('has made no revision');
  const { namespace, name } = newest;
  const live = await access.getRevision({ namespace, name });
  if (live.kind === 'unavailable') return unreadable(live);
  const isSeen = live.kind === 'found' && uid(live.object.metadata.uid) === newest.uid;
  if (!isSeen || !isBuiltInCurrent(daemonSet, live.object, knownUidOf(input, [live.object]))) {
    return behind('has not made the revision of the present template');
  }
  return { kind: 'known', entry: entryOf(live.object, input), hasWritten: false };
}

function behind(what: string): HistoryFailure {
  const message = `the built-in controller ${what}; waiting for it`;
  return { kind: 'failed', code: 'built-in-behind', message };
}
