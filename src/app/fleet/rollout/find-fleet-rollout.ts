/**
 * Finds what is stored of a fleet's rollout: what was applied last, and the record of the release that is rolled out.
 *
 * The two are read side by side, and are no snapshot: a record may be of an older generation, which the next step replaces. A record
 * of a FleetDaemonSet that had the name before is none.
 */
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type {
  FleetRolloutStore,
  FleetStore,
  StoredFleet,
} from '../../../ports/stores/fleet-rollout-store.ts';
import { refuseFleet, type FleetRefusal } from '../refusals.ts';

export interface FleetRolloutSources {
  readonly fleets: Pick<FleetStore, 'readFleet'>;
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord'>;
}

export interface FoundFleetRollout extends StoredFleet {
  readonly kind: 'found';
  /** Absent: no step was made yet; within a minute one is. */
  readonly record?: FleetRecord;
}

/** Finds it. Rejects when a table fails, or an item cannot be read. */
export async function findFleetRollout(
  key: FleetKey,
  { fleets, rollouts }: FleetRolloutSources,
): Promise<FoundFleetRollout | FleetRefusal> {
  const [stored, record] = await Promise.all([fleets.readFleet(key), rollouts.readRecord(key)]);
  if (stored === undefined) return refuseFleet('unknown-fleet', key);
  const isOwn = record?.uid === stored.head.uid;
  return { kind: 'found', ...stored, ...(isOwn ? { record } : {}) };
}

/** True if something newer was applied than the record is of: the next step begins with it. */
export function isUnseen({ head, record }: Pick<FoundFleetRollout, 'head' | 'record'>): boolean {
  return record?.release.generation !== head.generation;
}

/** A turn a minute, and some that were lost or too short. */
const LATE_MS = 300_000;

/** Since when a step should have been made and was not; undefined: none is missed. */
export function missedStepSinceMs(
  { head, record }: Pick<FoundFleetRollout, 'head' | 'record'>,
  nowMs: number,
): number | undefined {
  const isBegun = record?.uid === head.uid && record.release.generation === head.generation;
  // An applied release is due at once; afterwards the record says when.
  const dueAtMs = isBegun ? record.dueAtMs : head.appliedAtMs;
  return nowMs - dueAtMs > LATE_MS ? dueAtMs : undefined;
}
