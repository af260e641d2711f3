/**
 * What people are told of the mirror of fleets, in one sentence (ADR 0068). Pure.
 *
 * A rollout never waits for its mirror: trouble is a note beside its status, and no state of it.
 */
import { formatFleetKey } from '../fleet-daemon-set.ts';
import type { FleetKey } from '../fleet-daemon-set.ts';
import { timeOf } from './fleet-conditions.ts';
import type { FleetMirror } from './fleet-mirror.ts';

/** What is the matter with the mirror of one fleet; empty: nothing, as far as is known. */
export function mirrorNotes({ cluster, trouble }: FleetMirror, fleet: FleetKey): readonly string[] {
  if (cluster === undefined || trouble === undefined) return [];
  if (trouble.fleet !== undefined && trouble.fleet !== formatFleetKey(fleet)) return [];
  return [
    `Its mirror in cluster ${cluster} is behind since ${timeOf(trouble.sinceMs)}: ${trouble.message}.`,
  ];
}
