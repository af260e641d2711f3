/**
 * What a message does to slices, as pure edits: one for each slice that it touches.
 *
 * A delta stands where its `sets` say and is removed where only its `formerSets` say (protocol 21).
 * A whole slice of a snapshot replaces; unless a loss came before, it is written only where it
 * differs, so that a restart of the watcher causes no runs (protocol 18).
 */
import { sliceIndexIn } from '../../../core/projections/set-hash.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { Tombstone } from '../../../core/model/projections.ts';
import type { Slice } from '../../../core/model/view-items.ts';
import type { Delta, SnapshotSlice } from '../../../core/model/watcher-message.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';

export type SliceObjects = Slice['objects'];

/** What happens to one slice. */
export interface SliceEdit {
  readonly set: SlicedSet;
  readonly index: number;
  /** The objects as they should be, or undefined when they already are. */
  readonly edit: (objects: SliceObjects) => SliceObjects | undefined;
  /** What to do where there is no item: take it as empty, see a loss in it, or leave it so. */
  readonly ifMissing: 'create' | 'loss' | 'leave';
  /** Tombstones that come from elsewhere: the slice is written for their sake, too. */
  readonly buries?: readonly Tombstone[];
}

interface Placed {
  readonly delta: Delta;
  readonly hash: number | undefined;
}

interface DeltaContext {
  readonly sliceCount: number;
  /** Tells which sets have all their slices already: a missing one is a loss. */
  readonly mustExist: (set: SlicedSet) => boolean;
  /** Tells of which sets the stored content means nothing: of before the announcement. */
  readonly isVoid: (set: SlicedSet) => boolean;
}

/** Edits of deltas. */
export function editsOfDeltas(
  deltas: readonly Delta[],
  { sliceCount, mustExist, isVoid }: DeltaContext,
): readonly SliceEdit[] {
  const slices = new Map<string, { set: SlicedSet; index: number; placed: Placed[] }>();
  const place = (set: SlicedSet, placed: Placed): void => {
    const index = sliceIndexIn(set, placed.delta.name, sliceCount);
    const key = `${set}#${index}`;
    const slice = slices.get(key) ?? { set, index, placed: [] };
    slice.placed.push(placed);
    slices.set(key, slice);
  };
  for (const delta of deltas) {
    for (const { set } of delta.formerSets) {
      const stays = delta.sets.some((membership) => membership.set === set);
      if (set !== 'daemonsets' && !stays) place(set, { delta, hash: undefined });
    }
    for (const { set, hash } of delta.sets) {
      if (set !== 'daemonsets') place(set, { delta, hash });
    }
  }
  return [...slices.values()].map(({ set, index, placed }) => ({
    set,
    index,
    edit: isVoid(set)
      ? replacing({ set, index, objects: withPlaced([], placed) ?? [] }, { rewritesAll: false })
          .edit
      : (objects) => withPlaced(objects, placed),
    ifMissing: mustExist(set) ? 'loss' : 'create',
  }));
}

function withPlaced(objects: SliceObjects, placed: readonly Placed[]): SliceObjects | undefined {
  // Of hundreds of objects a message changes a few; undefined: it goes.
  const changes = new Map<Uid, SliceObjects[number] | undefined>();
  for (const { delta, hash } of placed) {
    const stays = hash !== undefined && delta.object !== null;
    changes.set(delta.uid, stays ? { object: delta.object, hash } : undefined);
  }
  const next: SliceObjects[number][] = [];
  let isChanged = false;
  for (const entry of objects) {
    const { uid } = entry.object;
    if (!changes.has(uid)) {
      next.push(entry);
      continue;
    }
    isChanged = true;
    const changed = changes.get(uid);
    changes.set(uid, undefined);
    if (changed !== undefined) next.push(changed);
  }
  for (const added of changes.values()) {
    if (added === undefined) continue;
    isChanged = true;
    next.push(added);
  }
  return isChanged ? next : undefined;
}

/** Edits of a snapshot's slices; those of `daemonsets` are stored by object, elsewhere. */
export function editsOfSlices(
  slices: readonly SnapshotSlice[],
  options: { readonly rewritesAll: boolean },
): readonly SliceEdit[] {
  return slices.flatMap((slice) =>
    slice.set === 'daemonsets'
      ? []
      : [replacing({ set: slice.set, index: slice.index, objects: slice.objects }, options)],
  );
}

/** An edit that replaces whatever a slice holds. */
export function replacing(
  slice: { readonly set: SlicedSet; readonly index: number; readonly objects: SliceObjects },
  options: { readonly rewritesAll: boolean },
): SliceEdit {
  const edit = (objects: SliceObjects): SliceObjects | undefined =>
    options.rewritesAll || !isSameContent(objects, slice.objects) ? slice.objects : undefined;
  return { set: slice.set, index: slice.index, edit, ifMissing: 'create' };
}

/** An edit that makes sure that a slice exists. */
export function ensuring(set: SlicedSet, index: number): SliceEdit {
  return { set, index, edit: () => undefined, ifMissing: 'create' };
}

/** Equal but for resourceVersions, which no decision reads from a slice. */
function isSameContent(left: SliceObjects, right: SliceObjects): boolean {
  if (left.length !== right.length) return false;
  const hashes = new Map(left.map(({ object, hash }) => [object.uid, hash]));
  const isSame = right.every(({ object, hash }) => hashes.get(object.uid) === hash);
  return isSame && hashes.size === right.length;
}
