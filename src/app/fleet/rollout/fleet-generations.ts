/**
 * The generations of a FleetDaemonSet that are kept: which they are, and what one of them was.
 *
 * Which of them is rolled out, proven, or led back to, the record says by their documents. A generation of the same content as another
 * is told by its content's name: what was halted once is halted again under whatever number.
 */
import type { FleetDaemonSet, FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord, FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import { wayBackOf } from '../../../core/fleet/rollout/way-back.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import type { FleetStore } from '../../../ports/stores/fleet-rollout-store.ts';
import { releaseOf } from '../../../core/fleet/rollout/begin-rollout.ts';
import { refuseFleet, type FleetRefusal } from '../refusals.ts';
import type { FoundFleetRollout } from './find-fleet-rollout.ts';

/** A generation, and what it is to the rollout. */
export interface ShownGeneration extends FleetRelease {
  /** `applied`, `rolled out`, `good`, `way back`, `halted`, `undone`; none: an older one. */
  readonly is: readonly string[];
}

/** All that are kept, the newest first. */
export function fleetHistoryOf(found: FoundFleetRollout): readonly ShownGeneration[] {
  const present = releaseOf(found.head);
  return [present, ...found.head.history].map((release) => ({
    ...release,
    is: [
      ...(release === present ? ['applied'] : []),
      ...(found.record === undefined ? [] : standingOf(release, found.record)),
    ],
  }));
}

function standingOf(
  { documentId, contentHash }: FleetRelease,
  record: FleetRecord,
): readonly string[] {
  const { release, good, refused } = record;
  const cause = refused.find((one) => one.contentHash === contentHash)?.cause;
  const standings = [
    [release.documentId === documentId, 'rolled out'],
    [good[0]?.documentId === documentId, 'good'],
    [wayBackOf(record)?.documentId === documentId, 'way back'],
    [cause !== undefined, cause === 'Undone' ? 'undone' : 'halted'],
  ] as const;
  return standings.filter(([is]) => is).map(([, word]) => word);
}

export interface FoundGeneration {
  readonly kind: 'found';
  readonly fleet: FleetDaemonSet;
  readonly document: JsonObject;
}

/** Reads it. Rejects when a table fails. */
export async function readGeneration(
  key: FleetKey,
  generation: number,
  {
    fleets,
    reader,
  }: {
    readonly fleets: Pick<FleetStore, 'readFleet' | 'readDocument'>;
    readonly reader: FleetReader;
  },
): Promise<FoundGeneration | FleetRefusal> {
  const stored = await fleets.readFleet(key);
  if (stored === undefined) return refuseFleet('unknown-fleet', key);
  const kept = [stored.head, ...stored.head.history].find((one) => one.generation === generation);
  const document = kept && (await fleets.readDocument(key, kept.documentId));
  if (document === undefined) return refuseFleet('unknown-generation', key);
  const reading = reader.readDocument(document);
  if (reading.kind === 'invalid') return refuseFleet('invalid', key, reading.problems);
  return { kind: 'found', fleet: reading.fleet, document };
}
