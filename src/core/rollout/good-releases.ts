/**
 * Releases that are good, newest first: what a template may go back to without a canary.
 *
 * The list is a stack. A release that passed all its steps goes on top; going back to an older one takes off all that are
 * newer, as the operator who goes back found something there. Nodes and clusters name releases differently, and use this alike.
 */

import type {
  GoodRelease,
  OlderReason,
  ProvenRevision,
  RolloutRecord,
} from '../model/rollout-record.ts';

/** A template's place in the list. */
export type ReleaseJudgement<Release extends GoodRelease> =
  | { readonly kind: 'return'; readonly release: Release }
  | { readonly kind: 'older'; readonly release: Release; readonly reason: OlderReason }
  | { readonly kind: 'new' };

const GOOD_RELEASES_MAX = 4;

/** One goes back to one of so many without a canary. */
const RETURN_RELEASES = 2;

const DAY_MS = 86_400_000;
const RETURN_WITHIN_DAYS = 14;

const OLDER_WORDS: Readonly<Record<OlderReason, string>> = {
  'too-old': `it was good, but was left ${RETURN_WITHIN_DAYS} days ago or earlier`,
  'too-far-back': `it was good, but is not one of the last ${RETURN_RELEASES} good releases`,
};

/** The reason as the end of a sentence. */
export function olderWords(reason: OlderReason): string {
  return OLDER_WORDS[reason];
}

/** Why a release that comes again is held, as the end of a sentence. */
export function refusedWords(cause: string): string {
  return cause === 'Undone' ? 'was undone before' : `was halted before (${cause})`;
}

/** The list with this release on top; as it is, where that is there already. */
export function noteGood<Release extends GoodRelease>(
  good: readonly Release[],
  release: Release,
): readonly Release[] {
  if (good[0]?.id === release.id) return good;
  const others = good.filter(({ id }) => id !== release.id);
  return [release, ...others].slice(0, GOOD_RELEASES_MAX);
}

/** The release that an undo on nodes leads to: the good one that this rollout left. */
export function wayBackOf({
  hash,
  former,
}: Pick<RolloutRecord, 'hash' | 'former'>): ProvenRevision | undefined {
  return former?.hash === hash ? undefined : former;
}

export interface Leaving {
  readonly from: string;
  readonly to: string;
  readonly nowMs: number;
}

/**
 * The list once one release is left for another. Going back takes off all newer ones, and the one that it leads to as well
 * where it is no return: it has to become good again. Otherwise the release that is left stays, with the time.
 */
export function leaveFor<Release extends GoodRelease>(
  good: readonly Release[],
  { from, to, nowMs }: Leaving,
): readonly Release[] {
  if (from === to) return good;
  const judged = judgeRelease(good, to, nowMs);
  if (judged.kind === 'new') {
    return good.map((each) => (each.id === from ? { ...each, leftAtMs: nowMs } : each));
  }
  const kept = good.slice(good.indexOf(judged.release));
  return judged.kind === 'return' ? kept : kept.slice(1);
}

/** Whether this release is one to return to: one of the newest, and not left long ago. */
export function judgeRelease<Release extends GoodRelease>(
  good: readonly Release[],
  id: string,
  nowMs: number,
): ReleaseJudgement<Release> {
  const place = good.findIndex((each) => each.id === id);
  const release = good[place];
  if (release === undefined) return { kind: 'new' };
  if (place >= RETURN_RELEASES) return { kind: 'older', release, reason: 'too-far-back' };
  const { leftAtMs = nowMs } = release;
  const isRecent = nowMs - leftAtMs < RETURN_WITHIN_DAYS * DAY_MS;
  return isRecent ? { kind: 'return', release } : { kind: 'older', release, reason: 'too-old' };
}
