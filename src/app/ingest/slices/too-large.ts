/**
 * What the table takes no item so large of: the objects concerned travel on opaque, and only their own set is decided
 * on live reads (protocol 22, A.7). Before, the whole view of the cluster was lost by it.
 *
 * The hash that an object was sent under stays, so set hashes come out as they were sent (protocol 19). Where the store
 * refuses opaque objects as well, its refusal stands, and the view is incomplete as after any loss. A pod that was opaque
 * leaves no tombstone (S13): its node is not known here.
 */
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { OpaqueProjection, Projection } from '../../../core/model/projections.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { Slice } from '../../../core/model/view-items.ts';
import { projectionText } from '../../../core/projections/set-hash.ts';
import { isItemTooLarge, type SliceRef } from '../../../ports/stores/view-store.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import type { SliceObjects } from './slice-edits.ts';

/** Why a DaemonSet's item holds no object: the watcher's own word for what does not fit. */
export const TOO_LARGE = 'too-large';

/** The objects with the larger half of those that are not opaque made so; undefined when all are. */
export function thinnedOut(objects: SliceObjects): SliceObjects | undefined {
  const sizes = objects.flatMap((entry) =>
    entry.object.kind === 'Opaque' ? [] : [{ entry, size: projectionText(entry.object).length }],
  );
  if (sizes.length === 0) return undefined;
  sizes.sort((left, right) => right.size - left.size);
  const larger = new Set(sizes.slice(0, Math.ceil(sizes.length / 2)).map(({ entry }) => entry));
  return objects.map((entry) =>
    larger.has(entry) ? { ...entry, object: opaqueOf(entry.object) } : entry,
  );
}

/** Writes a slice, thinned out until it fits; as it was written, or undefined when the compare-and-set was lost. */
export async function writeFitting(
  write: { readonly ref: SliceRef; readonly slice: Slice; readonly expected: Stamp | undefined },
  dependencies: IngestDependencies,
): Promise<Slice | undefined> {
  const { ref, expected } = write;
  const { set, index, clusterUid } = ref;
  let { slice } = write;
  // Ends: each turn leaves half as many objects that can be made opaque.
  for (;;) {
    try {
      const result = await dependencies.view.writeSlice(ref, slice, expected);
      return result === 'written' ? slice : undefined;
    } catch (error) {
      const objects = isItemTooLarge(error) ? thinnedOut(slice.objects) : undefined;
      if (objects === undefined) throw error;
      if (slice === write.slice) {
        noteTooLarge({ clusterUid, name: `${set}#${index}`, what: 'slice' }, dependencies);
      }
      slice = { ...slice, objects };
    }
  }
}

/** Says it once for each write: a line, and a count that can be alarmed on. */
export function noteTooLarge(
  item: {
    readonly clusterUid: ClusterUid;
    readonly name: string;
    readonly what: 'slice' | 'daemonset';
  },
  { log, metrics }: Pick<IngestDependencies, 'log' | 'metrics'>,
): void {
  const { clusterUid, name, what } = item;
  metrics.count('IngestItemsTooLarge', { outcome: what });
  log.error('an item is too large for the table; its objects are read live', {
    clusterUid,
    item: name,
  });
}

function opaqueOf(object: Projection): OpaqueProjection {
  if (object.kind === 'Opaque') return object;
  const { kind, name, uid, resourceVersion } = object;
  const namespace = object.kind === 'Node' ? {} : { namespace: object.namespace };
  return { kind: 'Opaque', of: kind, ...namespace, name, uid, resourceVersion, reason: TOO_LARGE };
}
