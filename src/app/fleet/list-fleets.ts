/**
 * Every FleetDaemonSet that was applied, by its head: a page after the other, in the order of their names.
 *
 * Heads are small and few; nothing that grows with the clusters is in them.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetHead, FleetStore } from '../../ports/stores/fleet-store.ts';

const PER_PAGE = 200;

/** Lists them. Rejects when the table fails. */
export async function listEveryFleet(
  fleets: Pick<FleetStore, 'listFleets'>,
): Promise<readonly FleetHead[]> {
  const heads: FleetHead[] = [];
  let cursor: string | undefined;
  do {
    const page = await fleets.listFleets({ limit: PER_PAGE, ...defined({ cursor }) });
    heads.push(...page.fleets);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return heads;
}
