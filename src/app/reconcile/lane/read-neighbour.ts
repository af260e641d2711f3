/**
 * What another DaemonSet of the cluster shows of its nodes, from the view: for the node lane alone (ADR 0058).
 *
 * Its state is read before its pods, so that a delete which left the record is one that these pods show (judge-entry.ts).
 * A part that is missing makes it unreadable: it then counts as if its pods were not there yet.
 */
import type { NodeName, Uid } from '../../../core/model/identifiers.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { nodeOf } from '../../../core/pod/pod-facts.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { StateStore, ViewReader } from '../../../ports/stores/view-store.ts';
import type { Basis } from '../read/read-basis.ts';

/** Another DaemonSet. */
export interface Neighbour {
  readonly daemonSet: DaemonSetObject;
  readonly state: DaemonSetState | undefined;
  readonly podsByNode: ReadonlyMap<NodeName | undefined, readonly PodProjection[]>;
}

/** Reads of the view table. */
export type NeighbourReads = Pick<ViewReader, 'readDaemonSet' | 'readSlice'> &
  Pick<StateStore, 'readState'>;

/** Reads it; `gone`: there is none (any more). */
export async function readNeighbour(
  uid: Uid,
  { ref, meta }: Pick<Basis, 'ref' | 'meta'>,
  { view }: { readonly view: NeighbourReads },
): Promise<Neighbour | 'gone' | 'unreadable'> {
  const { clusterUid } = ref;
  const of = { clusterUid, uid };
  const item = await view.readDaemonSet(of);
  if (item === undefined || (item.object === null && item.opaqueReason === undefined))
    return 'gone';
  if (item.object === null) return 'unreadable';
  if (item.object.metadata.deletionTimestamp !== undefined) return 'gone';
  const state = await view.readState(of);
  const indexes = Array.from({ length: meta.sliceCount }, (_, index) => index);
  const slices = await Promise.all(
    indexes.map((index) => view.readSlice({ clusterUid, set: `pods/${uid}`, index })),
  );
  if (slices.some((slice) => slice === undefined)) return 'unreadable';
  const pods = slices
    .flatMap((slice) => slice?.objects ?? [])
    .flatMap(({ object }) => (object.kind === 'Pod' && object.ownerUid === uid ? [object] : []));
  return { daemonSet: item.object, state, podsByNode: Map.groupBy(pods, nodeOf) };
}
