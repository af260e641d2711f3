/**
 * Where fleets are mirrored, and what is the matter with that: one small item (ADR 0066). An
 * operator names the cluster; the function `fleet` notes trouble when it begins and when it ends.
 */
import type { ClusterId } from '../../model/identifiers.ts';
import { formatFleetKey, type FleetKey } from '../fleet-daemon-set.ts';
import { timeText } from '../../rollout/gate-words.ts';

/** Why a mirror is not as it should be. Words of logs, of metrics and of `rollcall fleet status` alike. */
type MirrorTroubleCode =
  /** The cluster that was named has no registration any more. */
  | 'not-registered'
  /** Its registration is frozen: nothing is written there. */
  | 'frozen'
  | 'not-connected'
  | 'unavailable'
  | 'refused';

/** Trouble with a mirror. */
export interface MirrorTrouble {
  readonly code: MirrorTroubleCode;
  /** 500 characters at most. */
  readonly message: string;
  readonly sinceMs: number;
  /** `namespace/name`, where it is about one fleet's object alone. */
  readonly fleet?: string;
}

/** The mirror of a stack. */
export interface FleetMirror {
  /** Compare-and-set counter; 0: there is no item yet. */
  readonly version: number;
  /** Absent: there is none. */
  readonly cluster?: ClusterId;
  readonly setBy: string;
  readonly setAtMs: number;
  /** The first of them; absent: none is known. */
  readonly trouble?: MirrorTrouble;
}

/** No mirror is configured. */
export const NO_MIRROR: FleetMirror = { version: 0, setBy: '', setAtMs: 0 };

/** Troubles with the mirror of one fleet; empty: none is known. */
export function mirrorNotes({ cluster, trouble }: FleetMirror, fleet: FleetKey): readonly string[] {
  if (cluster === undefined || trouble === undefined) return [];
  if (trouble.fleet !== undefined && trouble.fleet !== formatFleetKey(fleet)) return [];
  return [
    `Its mirror in cluster ${cluster} is behind since ${timeText(trouble.sinceMs)}: ${trouble.message}.`,
  ];
}
