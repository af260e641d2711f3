/**
 * Lists of the clusters of stages and of the ring: read whole or by page, written under a new id.
 *
 * A list never changes, and is not read before a record names it. An empty one is not stored.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { NO_MEMBERS, type MemberList } from '../../core/fleet/rollout/fleet-record.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import { MEMBERS_PER_PAGE } from '../../ports/stores/fleet-rollout-store.ts';
import type {
  FleetInstance,
  FleetRolloutStore,
  FleetVersion,
} from '../../ports/stores/fleet-rollout-store.ts';

/** Pages that are read side by side. */
const PAGES_AT_ONCE = 32;

/** The numbers of its pages, from 0. */
export function pagesOf({ count }: MemberList): readonly number[] {
  return Array.from({ length: Math.ceil(count / MEMBERS_PER_PAGE) }, (_, page) => page);
}

/** Every cluster of a list, in its order. Rejects when a table fails. */
export async function readList(
  key: FleetInstance,
  list: MemberList,
  { rollouts }: { readonly rollouts: Pick<FleetRolloutStore, 'readMembers'> },
): Promise<readonly ClusterId[]> {
  const found = await sideBySide(pagesOf(list), PAGES_AT_ONCE, (page) =>
    rollouts.readMembers(key, list, page),
  );
  return found.flat();
}

/** Writes a list for the next version of the record. Rejects when a table fails. */
export async function writeList(
  fleet: FleetVersion,
  clusters: readonly ClusterId[],
  { rollouts }: { readonly rollouts: Pick<FleetRolloutStore, 'writeMembers'> },
): Promise<MemberList> {
  return clusters.length === 0 ? NO_MEMBERS : rollouts.writeMembers(fleet, clusters);
}
