/**
 * Finds FleetDaemonSets that were applied, one or all, and those that are placed on a cluster.
 *
 * A document that this release cannot read is named, by field where one was asked for.
 */
import { pagesOf } from '@rollcall/base/pages.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet, FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type {
  FleetHead,
  FleetStore,
  StoredFleet,
  FleetRolloutStore,
} from '../../ports/stores/fleet-rollout-store.ts';
import { refuseFleet, type FleetRefusal } from './refusals.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import { compilePlacement, type ChosenBy } from '../../core/fleet/choose-clusters.ts';

interface FleetSources {
  readonly fleets: FleetStore;
  readonly reader: FleetReader;
}

interface FoundFleet extends StoredFleet {
  readonly kind: 'found';
  readonly fleet: FleetDaemonSet;
}

/** Finds it. Rejects when the table fails. */
export async function findFleet(
  key: FleetKey,
  { fleets, reader }: FleetSources,
): Promise<FoundFleet | FleetRefusal> {
  const stored = await fleets.readFleet(key);
  if (stored === undefined) return refuseFleet('unknown-fleet', key);
  const reading = reader.readDocument(stored.document);
  if (reading.kind === 'invalid') return refuseFleet('invalid', key, reading.problems);
  return { kind: 'found', ...stored, fleet: reading.fleet };
}

const PER_PAGE = 200;
const RECORDS_PER_PAGE = 100;

/** Lists them. Rejects when the table fails. */
export async function listEveryFleet(
  fleets: Pick<FleetStore, 'listFleets'>,
): Promise<readonly FleetHead[]> {
  const heads: FleetHead[] = [];
  const pages = pagesOf((from) => fleets.listFleets({ limit: PER_PAGE, ...from }));
  for await (const page of pages) heads.push(...page.fleets);
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
  const pages = pagesOf((from) => rollouts.listRecords({ limit: RECORDS_PER_PAGE, ...from }));
  for await (const page of pages) {
    for (const record of page.records) records.set(formatFleetKey(record), record);
    unreadable.push(...page.unreadable);
  }
  return { records, unreadable };
}

type PlacedFleet = Pick<FleetDaemonSet, 'namespace' | 'name' | 'placement'>;

interface AppliedFleet extends FleetDaemonSet {
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
