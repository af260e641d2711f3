/**
 * Finds a FleetDaemonSet that was applied, and reads its document.
 *
 * A document that another release wrote may be none to this one: that is told by field, and nothing is guessed.
 */
import type { FleetDaemonSet, FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type { FleetStore, StoredFleet } from '../../ports/stores/fleet-store.ts';
import { refuseFleet } from './refusals.ts';
import type { FleetRefusal } from './refusals.ts';

/** Where to look. */
export interface FleetSources {
  readonly fleets: FleetStore;
  readonly reader: FleetReader;
}

/** What was found. */
export interface FoundFleet extends StoredFleet {
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
