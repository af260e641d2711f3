/**
 * Where the pods and revisions of a DaemonSet last changed: in META, or in an item of its own (ADR 0052).
 *
 * META keeps the positions of so many DaemonSets; an entry there is the position, whatever an item says. Of any other the
 * item is read, which `ingest` raises before META. Without either nothing has changed yet, or it was lost: then every slice
 * is ahead of it (protocol 2).
 */
import { NO_POSITION, positionIn } from '../../../core/model/view-items.ts';
import type { ClusterMeta, DaemonSetPosition } from '../../../core/model/view-items.ts';
import type { DaemonSetRef, ViewReader } from '../../../ports/stores/view-store.ts';

type Positioned = Pick<ClusterMeta, 'positions'>;

/** The position as this META has it. */
export async function readPosition(
  meta: Positioned,
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition'>,
): Promise<DaemonSetPosition> {
  const kept = positionIn(meta.positions, ref.uid);
  return kept ?? (await view.readPosition(ref)) ?? NO_POSITION;
}

/** The position as it is by now: META is read for it. */
export async function readPositionNow(
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition' | 'readMeta'>,
): Promise<DaemonSetPosition> {
  const meta = await view.readMeta(ref.clusterUid);
  return readPosition(meta ?? {}, ref, view);
}
