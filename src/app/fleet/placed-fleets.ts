/**
 * Which FleetDaemonSets are placed on a cluster: what it has to grant, and what the doctor looks at there.
 *
 * Documents are read once for as many clusters as are asked about. One that this release cannot read is named: nobody knows whether it is
 * placed anywhere.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { compilePlacement } from '../../core/fleet/choose-clusters.ts';
import type { ChosenBy } from '../../core/fleet/choose-clusters.ts';
import type { FleetDaemonSet, FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetHead } from '../../ports/stores/fleet-store.ts';
import { findFleet } from './find-fleet.ts';
import type { FleetSources } from './find-fleet.ts';
import { listEveryFleet } from './list-fleets.ts';

/** As much of a FleetDaemonSet as says where it is placed. */
export type PlacedFleet = Pick<FleetDaemonSet, 'namespace' | 'name' | 'placement'>;

/** One that was applied. */
export interface AppliedFleet extends FleetDaemonSet {
  readonly head: FleetHead;
}

/** Every one that was applied. */
export interface EveryFleet {
  readonly fleets: readonly AppliedFleet[];
  readonly unreadable: readonly FleetKey[];
}

/** A document has some hundred KB at most. */
const AT_ONCE = 8;

/** Reads them, in the order of their names. Rejects when the table fails. */
export async function readEveryFleet(sources: FleetSources): Promise<EveryFleet> {
  const heads = await listEveryFleet(sources.fleets);
  const found = await sideBySide(heads, AT_ONCE, async (head) => ({
    head,
    read: await findFleet(head, sources),
  }));
  const fleets: AppliedFleet[] = [];
  const unreadable: FleetKey[] = [];
  for (const { head, read } of found) {
    const { namespace, name } = head;
    if (read.kind === 'found') {
      fleets.push({ ...read.fleet, head: read.head });
    } else if (read.code !== 'unknown-fleet') {
      // One that was deleted meanwhile is placed nowhere.
      unreadable.push({ namespace, name });
    }
  }
  return { fleets, unreadable };
}

/** Those of them that are placed on this cluster. */
export function fleetsOn<Fleet extends PlacedFleet>(
  cluster: ChosenBy,
  fleets: readonly Fleet[],
): readonly Fleet[] {
  return fleets.filter(({ placement }) => compilePlacement(placement)(cluster));
}
