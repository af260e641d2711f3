/**
 * Set hashes of a snapshot in progress, kept per slice, so that everything counts exactly once.
 *
 * A whole slice *replaces* what its slice summed to, deltas move it. A slice of which neither came is
 * null: empty, as far as this snapshot says. DaemonSets are stored by object, so each is a slice of
 * its own here. Sums move by carried hashes alone (protocol 19): a redelivered message moves
 * the META it is applied to by the same difference. Pure.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import { WATCHED_KINDS } from '../../../core/model/projections.ts';
import type { WatchedKind } from '../../../core/model/projections.ts';
import type { SnapshotProgress } from '../../../core/model/view-items.ts';
import type {
  Delta,
  Membership,
  SetHashes,
  SetId,
  SnapshotSlice,
} from '../../../core/model/watcher-message.ts';
import { addHash, sliceIndexOf, subtractHash } from '../../../core/projections/set-hash.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';

type Sums = Record<string, readonly (number | null)[]>;

function kindOfSet(set: SetId): WatchedKind {
  if (set === 'nodes') return 'Node';
  if (set === 'daemonsets') return 'DaemonSet';
  return set.startsWith('pods/') ? 'Pod' : 'ControllerRevision';
}

/** How many slices a set has. */
export function slicesOfSet(set: SetId, sliceCount: number): number {
  return set.startsWith('revisions/') ? 1 : sliceCount;
}

/** The slices of a DaemonSet's pods and revisions. */
export function slicesOfDaemonSet(
  uid: Uid,
  sliceCount: number,
): readonly { readonly set: SlicedSet; readonly index: number }[] {
  return ([`pods/${uid}`, `revisions/${uid}`] as const).flatMap((set) =>
    Array.from({ length: slicesOfSet(set, sliceCount) }, (_, index) => ({ set, index })),
  );
}

/** Which slice of a set holds the object of this name. */
export function sliceIndexIn(set: SetId, name: string, sliceCount: number): number {
  return sliceIndexOf(name, slicesOfSet(set, sliceCount));
}

/** The progress after whole slices. */
export function withSlices(
  progress: SnapshotProgress,
  slices: readonly SnapshotSlice[],
): SnapshotProgress {
  const moving = new MovingSums(progress);
  for (const slice of slices) {
    if (slice.set === 'daemonsets') {
      for (const { object, hash } of slice.objects) {
        moving.replace({ key: daemonSetSumKey(object.uid), index: 0, of: 'DaemonSet' }, hash);
      }
      continue;
    }
    const sum = slice.objects.reduce((total, { hash }) => addHash(total, hash), 0);
    moving.replace({ key: slice.set, index: slice.index, of: kindOfSet(slice.set) }, sum);
  }
  return moving.progress();
}

/** The progress after deltas. What they put into a slice that comes whole later, that replaces. */
export function withDeltas(progress: SnapshotProgress, deltas: readonly Delta[]): SnapshotProgress {
  const moving = new MovingSums(progress);
  for (const delta of deltas) {
    if (delta.of !== 'DaemonSet') continue;
    const place = { key: daemonSetSumKey(delta.uid), index: 0, of: 'DaemonSet' as const };
    moving.replace(place, delta.sets[0]?.hash ?? 0);
  }
  for (const delta of deltas) {
    if (delta.of === 'DaemonSet') continue;
    for (const membership of delta.formerSets) moving.move(delta, membership, -1);
    for (const membership of delta.sets) moving.move(delta, membership, 1);
  }
  return moving.progress();
}

/** True when something came for this slice since the announcement. */
export function isReceived(progress: SnapshotProgress, set: SetId, index: number): boolean {
  return (progress.sums[set]?.[index] ?? null) !== null;
}

/** True when both name the same sums for every type. */
export function isSameHashes(left: SetHashes, right: SetHashes): boolean {
  return WATCHED_KINDS.every((kind) => left[kind] === right[kind]);
}

/** Set hashes moved by what deltas carry: + what they are sent under, − what they were. */
export function movedHashes(hashes: SetHashes, deltas: readonly Delta[]): SetHashes {
  const moved = { ...hashes };
  for (const delta of deltas) {
    for (const { hash } of delta.formerSets) moved[delta.of] = subtractHash(moved[delta.of], hash);
    for (const { hash } of delta.sets) moved[delta.of] = addHash(moved[delta.of], hash);
  }
  return moved;
}

function daemonSetSumKey(uid: string): string {
  return `daemonsets/${uid}`;
}

interface SumPlace {
  readonly key: string;
  readonly index: number;
  readonly of: WatchedKind;
}

class MovingSums {
  private readonly start: SnapshotProgress;
  private readonly sums: Sums;
  private readonly hashes: Record<WatchedKind, number>;

  constructor(progress: SnapshotProgress) {
    this.start = progress;
    this.sums = { ...progress.sums };
    this.hashes = { ...progress.hashes };
  }

  replace(place: SumPlace, sum: number): void {
    const sums = [...(this.sums[place.key] ?? [])];
    const former = sums[place.index] ?? 0;
    while (sums.length < place.index) sums.push(null);
    sums[place.index] = sum;
    this.sums[place.key] = sums;
    this.hashes[place.of] = addHash(subtractHash(this.hashes[place.of], former), sum);
  }

  move(delta: Delta, membership: Membership, sign: 1 | -1): void {
    const { set, hash } = membership;
    const index = sliceIndexIn(set, delta.name, this.start.sliceCount);
    const sum = this.sums[set]?.[index] ?? 0;
    const moved = sign === 1 ? addHash(sum, hash) : subtractHash(sum, hash);
    this.replace({ key: set, index, of: delta.of }, moved);
  }

  progress(): SnapshotProgress {
    return { ...this.start, sums: this.sums, hashes: this.hashes };
  }
}
