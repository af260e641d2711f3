/**
 * Writes DaemonSets as they were sent: one item by UID, and the name that points to it.
 *
 * A later stamp wins; a process that is late loses and changes nothing. An opaque DaemonSet is noted
 * as such, without an object: its own set alone is decided on a live read (protocol 22).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import { isSameJson, type Json } from '@rollcall/base/json.ts';
import type { Projection } from '../../../core/model/projections.ts';
import type { DaemonSetItem } from '../../../core/model/view-items.ts';
import type { Delta } from '../../../core/model/watcher-message.ts';
import { isItemTooLarge, type DaemonSetRef } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import type { NameChange } from './names.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { TOO_LARGE, noteTooLarge } from './too-large.ts';
import type { SliceTarget } from './write-slices.ts';

/** One DaemonSet as it should stand; null: deleted. */
interface DaemonSetWrite {
  readonly uid: Uid;
  readonly object: Projection | null;
}

/** The DaemonSets of a message's deltas. */
export function writesOfDeltas(deltas: readonly Delta[]): readonly DaemonSetWrite[] {
  return deltas
    .filter((delta) => delta.of === 'DaemonSet')
    .map((delta) => ({ uid: delta.uid, object: isStanding(delta) ? delta.object : null }));
}

/** True when a DaemonSet's delta says that it exists. */
export function isStanding(delta: Delta): boolean {
  return delta.object !== null && delta.sets.length > 0;
}

/** Changes of names that a message's deltas bring, one for each name. */
export function nameChangesOfDeltas(deltas: readonly Delta[]): readonly NameChange[] {
  const changes = new Map<string, NameChange>();
  for (const delta of deltas) {
    if (delta.of !== 'DaemonSet') continue;
    const namespace = delta.namespace ?? '';
    const key = `${namespace}/${delta.name}`;
    const change = changes.get(key) ?? { namespace, name: delta.name, departed: [] };
    changes.set(
      key,
      isStanding(delta)
        ? { ...change, arrived: delta.uid }
        : { ...change, departed: [...change.departed, delta.uid] },
    );
  }
  return [...changes.values()];
}

/** Writes each DaemonSet over an older stamp. `unlessEqual` reads first, and spares equal ones. */
export async function writeDaemonSets(
  target: SliceTarget,
  writes: readonly DaemonSetWrite[],
  options: { readonly unlessEqual: boolean; readonly dependencies: IngestDependencies },
): Promise<void> {
  const { view, options: bounds } = options.dependencies;
  await sideBySide(writes, bounds.concurrencyMax, async ({ uid, object }) => {
    const ref = { clusterUid: target.clusterUid, uid };
    const item = itemOf(object);
    if (options.unlessEqual) {
      const stored = await view.readDaemonSet(ref);
      if (stored !== undefined && isSameItem(stored, item)) return;
    }
    await writeDaemonSet(ref, { ...item, stamp: target.stamp }, options.dependencies);
  });
}

/** One that is too large for its item is opaque from here on: its own set alone is decided on live reads (A.7). */
async function writeDaemonSet(
  ref: DaemonSetRef,
  item: DaemonSetItem,
  dependencies: IngestDependencies,
): Promise<void> {
  const { view } = dependencies;
  try {
    await view.writeDaemonSet(ref, item);
  } catch (error) {
    if (!isItemTooLarge(error) || item.object === null) throw error;
    noteTooLarge({ ...ref, name: ref.uid, what: 'daemonset' }, dependencies);
    await view.writeDaemonSet(ref, { stamp: item.stamp, object: null, opaqueReason: TOO_LARGE });
  }
}

function itemOf(object: Projection | null): Omit<DaemonSetItem, 'stamp'> {
  if (object === null) return { object: null };
  if (object.kind === 'DaemonSet') return { object: object.object };
  if (object.kind !== 'Opaque') return { object: null, opaqueReason: 'undecodable' };
  const { reason, outline } = object;
  return { object: null, opaqueReason: reason, ...defined({ outline }) };
}

function isSameItem(stored: DaemonSetItem, item: Omit<DaemonSetItem, 'stamp'>): boolean {
  const told = (one: Omit<DaemonSetItem, 'stamp'>): Json =>
    [one.opaqueReason, one.object, one.outline].map((member) => member ?? null) as unknown as Json; // raw JSON
  return isSameJson(told(stored), told(item));
}
