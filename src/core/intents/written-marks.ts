/**
 * Marks of own writes: how far each type must have been read before a run may act again (spec 2.3 step 1, protocol 3).
 *
 * A mark vouches only for a version that a successful write returned, and only in its era: with a new history of etcd
 * they are void. Versions that cannot be compared never block.
 */
import { compareResourceVersions, isResourceVersion, newerVersion } from '../model/identifiers.ts';
import type { ResourceVersion } from '../model/identifiers.ts';
import type { DaemonSetState } from '../model/state.ts';
import type { Marks } from '../model/watcher-message.ts';

/** Marks of our own writes, as the state keeps them. */
export type WrittenMarks = DaemonSetState['written'];

/** True if a type has been read as far as this version; false while it has not been read at all. */
export function hasPassed(mark: ResourceVersion | undefined, version: ResourceVersion): boolean {
  return mark !== undefined && compareResourceVersions(mark, version) >= 0;
}

/** Marks of own writes for this era: those of another era vouch for nothing (design 3, ingest). */
export function rebaseWrittenMarks(written: WrittenMarks, era: number): WrittenMarks {
  return written.era === era ? written : { era };
}

/** Raises the mark of one type to a version that a successful write returned (protocol 3). */
export function noteWritten(
  written: WrittenMarks,
  write: {
    readonly era: number;
    readonly type: 'pods' | 'daemonSet' | 'revisions';
    readonly resourceVersion: ResourceVersion;
  },
): WrittenMarks {
  const base = rebaseWrittenMarks(written, write.era);
  // A version that cannot be compared must never block (spec 2.3 step 1).
  if (!isResourceVersion(write.resourceVersion)) return base;
  const isKnown = hasPassed(base[write.type], write.resourceVersion);
  return isKnown ? base : { ...base, [write.type]: write.resourceVersion };
}

/** True while a type has not been read as far as we have written it, in this era (spec 2.3 step 1). */
export function hasUnseenWrites(input: {
  readonly written: WrittenMarks;
  readonly marks: Marks;
  readonly era: number;
  /** Version of the DaemonSet that was read: seeing it is as good as the mark. */
  readonly daemonSetVersion?: ResourceVersion;
}): boolean {
  const { written, marks } = input;
  if (written.era !== input.era) return false;
  const daemonSetMark = newerVersion(marks.DaemonSet, input.daemonSetVersion);
  return (
    isBehind(marks.Pod, written.pods) ||
    isBehind(daemonSetMark, written.daemonSet) ||
    isBehind(marks.ControllerRevision, written.revisions)
  );
}

function isBehind(
  mark: ResourceVersion | undefined,
  version: ResourceVersion | undefined,
): boolean {
  return isResourceVersion(version) && !hasPassed(mark, version);
}
