/**
 * Tells a view that is being written from one that is torn for good (protocol 2, L1).
 *
 * `ingest` writes slices, then positions, then META, one message of a cluster at a time. So what stands
 * above a META that is read afterwards can only be of the one message that comes next, in this era or in
 * the one that a manifest begins. Anything else no message will ever reach: looking again does not help, a
 * snapshot does (its manifest begins an era after what it finds). Needs no memory, so it costs nothing
 * while views are sound. Decides nothing about what a torn view shows: no plan is made of it.
 */
import { compareStamps, stampOf } from '../../../core/model/position.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { SlicedSet } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import { NO_POSITION } from './read-basis.ts';
import type { Basis } from './read-basis.ts';

/** A stamp that was above what should have covered it when it was read. */
export interface StampAhead {
  readonly stamp: Stamp;
  /** Whose slice bears it; `basis`: an item that META itself covers. */
  readonly of: SlicedSet | 'basis';
}

/** True if no message that may be on its way explains the stamp: what covers it is read once more. */
export async function isTorn(
  { stamp, of }: StampAhead,
  { ref }: Basis,
  { view }: Pick<StepDependencies, 'view'>,
): Promise<boolean> {
  const meta = await view.readMeta(ref.clusterUid);
  if (meta === undefined || isOfNextMessage(stamp, meta)) return false;
  if (compareStamps(stamp, stampOf(meta)) > 0) return true;
  if (of === 'basis') return false;
  if (of === 'nodes') return compareStamps(stamp, meta.nodesChanged) > 0;
  const { podsChanged, revisionsChanged } = (await view.readPosition(ref)) ?? NO_POSITION;
  return compareStamps(stamp, of.startsWith('pods/') ? podsChanged : revisionsChanged) > 0;
}

function isOfNextMessage(stamp: Stamp, meta: ClusterMeta): boolean {
  const next = { ...meta, seq: meta.seq + 1 };
  return stamp === stampOf(next) || stamp === stampOf({ ...next, era: meta.era + 1 });
}
