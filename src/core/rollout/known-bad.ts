/**
 * Revisions that were halted, and are applied again: they are held. Where the
 * template is restored (copilot), a halt remembers the generation that it followed: a release that is
 * further and halted still was applied again. What was edited away half-way may come again, but
 * nothing proved it. The lists keep the newest.
 */
import type { Breach, RefusedRevision, RolloutRecord } from '../model/rollout-record.ts';
import { refusedWords } from './good-releases.ts';

const REFUSED_MAX = 8;
const ABANDONED_MAX = 8;

/** A right that is missing is not granted within seconds. */
const RESTORE_AGAIN_MS = 3_600_000;

/** A revision that was halted, and not resumed, is remembered; a good one that could not return is still good. */
export function refusedAfter(record: RolloutRecord | undefined): readonly RefusedRevision[] {
  if (record?.breach === undefined || record.isReturn) return record?.refused ?? [];
  const { cause, atMs } = record.breach;
  return refuseRelease(record, { cause, atMs });
}

/** Its list with this revision on top. */
export function refuseRelease(
  { id, hash, refused }: RolloutRecord,
  { cause, atMs }: Pick<RefusedRevision, 'cause' | 'atMs'>,
): readonly RefusedRevision[] {
  return noteRefused(refused, { id, hash, cause, atMs }, 'id');
}

/**
 * The list with this one on top, the newest after it: lists of a fleet were stored the other way round. Why and when it was
 * refused first stay. `name` is what it is known by.
 */
export function noteRefused<Refused extends { readonly cause: string; readonly atMs: number }>(
  refused: readonly Refused[],
  one: Refused,
  name: keyof Refused,
): readonly Refused[] {
  const first = refused.find((each) => each[name] === one[name]);
  const others = refused
    .filter((each) => each !== first)
    .sort((left, right) => right.atMs - left.atMs);
  const earlier = first !== undefined && first.atMs <= one.atMs ? first : one;
  // An undo is noted at once, and the halt before it with the next release.
  const noted = { ...one, cause: earlier.cause, atMs: earlier.atMs };
  return [noted, ...others].slice(0, REFUSED_MAX);
}

/** Revisions of which pods may be left, and which were neither proven nor halted, once another one begins. */
export function abandonedAfter(
  record: RolloutRecord | undefined,
  hash: string,
): Pick<RolloutRecord, 'abandoned'> {
  if (record === undefined) return {};
  const { breach, step, proven, abandoned = [] } = record;
  // A revision that came where nothing ran may yet be the baseline.
  const isFirst = step.kind === 'done' && proven === undefined;
  const isBegun = step.kind !== 'waiting' && !isFirst;
  const isLeft = breach === undefined && isBegun && proven?.hash !== record.hash;
  const all = isLeft ? [record.hash, ...abandoned] : abandoned;
  const kept = [...new Set(all)].filter((each) => each !== hash && each !== proven?.hash);
  return kept.length === 0 ? {} : { abandoned: kept.slice(0, ABANDONED_MAX) };
}

/** Revisions that nothing proved: halted ones, and those that were edited away. */
export function unprovenBefore({
  refused,
  abandoned = [],
}: Pick<RolloutRecord, 'refused' | 'abandoned'>): ReadonlySet<string> {
  return new Set([...refused.map(({ hash }) => hash), ...abandoned]);
}

/** The same once a revision of that hash begins. */
export function unprovenFor(record: RolloutRecord | undefined, hash: string): ReadonlySet<string> {
  return unprovenBefore({ refused: refusedAfter(record), ...abandonedAfter(record, hash) });
}

/** The halt of a revision that was halted, or undone, before. */
export function knownBad(
  { hash, cause }: Pick<RefusedRevision, 'hash' | 'cause'>,
  atMs: number,
): Breach {
  const message = `revision ${hash} ${refusedWords(cause)}; resume it to try again`;
  return { cause: 'KnownBad', atMs, message, nodes: [] };
}

/** The API server's answer to a restore of the template: it did, or may have, at that generation; or it refused then. */
export type Restoring =
  Required<Pick<Breach, 'restoredGeneration'>> | Required<Pick<Breach, 'restoreRefusedAtMs'>>;

/** The record after that. */
export function noteRestoring(record: RolloutRecord, restoring: Restoring): RolloutRecord {
  const { breach } = record;
  return breach === undefined ? record : { ...record, breach: { ...breach, ...restoring } };
}

/** True if it may be asked to: the right is optional, and a later grant needs no person to go on. */
export function mayAskToRestore({ restoreRefusedAtMs }: Breach, nowMs: number): boolean {
  return restoreRefusedAtMs === undefined || nowMs - restoreRefusedAtMs >= RESTORE_AGAIN_MS;
}

/** The record of a revision that stands there; held as known where its template was restored and a user put it back. */
export function heldIfRestored(
  record: RolloutRecord,
  at: { readonly generation: number; readonly nowMs: number },
): RolloutRecord {
  const { breach } = record;
  if (breach?.restoredGeneration === undefined || at.generation <= breach.restoredGeneration) {
    return record;
  }
  const refused = refusedAfter(record);
  const [halted] = refused;
  return halted === undefined ? record : { ...record, refused, breach: knownBad(halted, at.nowMs) };
}
