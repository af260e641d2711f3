/**
 * Every FleetDaemonSet that was applied, by its head, and every record of a rollout: a page after the other, in the order of their names.
 *
 * Heads and records are small and few; nothing that grows with the clusters is in them.
 */
import { defined } from '@rollcall/base/defined.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import type { FleetRolloutStore } from '../../ports/stores/fleet-rollout-store.ts';
import type { FleetHead, FleetStore } from '../../ports/stores/fleet-store.ts';

const PER_PAGE = 200;
const RECORDS_PER_PAGE = 100;

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

/** Records of rollouts by `namespace/name`, and whose cannot be read by this release. */
export interface EveryRecord {
  readonly records: ReadonlyMap<string, FleetRecord>;
  readonly unreadable: readonly FleetKey[];
}

/** Lists them. Rejects when the table fails. */
export async function listEveryRecord(
  rollouts: Pick<FleetRolloutStore, 'listRecords'>,
): Promise<EveryRecord> {
  const records = new Map<string, FleetRecord>();
  const unreadable: FleetKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await rollouts.listRecords({ limit: RECORDS_PER_PAGE, ...defined({ cursor }) });
    for (const record of page.records) records.set(formatFleetKey(record), record);
    unreadable.push(...page.unreadable);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { records, unreadable };
}
