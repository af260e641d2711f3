/**
 * What a warm process remembers of whom it told of fleets: what mirrors show, when it may try again, and which decisions the bus took.
 *
 * Bounded, and never needed for correctness: a process that just began looks at each object once.
 */
import type { FleetMirror } from '../../../core/fleet/told/fleet-mirror.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';

/** What was shown last of a fleet. */
export interface Shown {
  readonly cluster: ClusterId;
  readonly uid: string;
  readonly version: number;
  readonly atMs: number;
}

/** No further try before this. */
export interface Pause {
  readonly failures: number;
  readonly untilMs: number;
}

/** Of one process. */
export interface MirrorMemory {
  /** The item, as it was read or written last. */
  setting?: { readonly mirror: FleetMirror; readonly readAtMs: number };
  readonly shown: Map<string, Shown>;
  /** By `namespace/name`; '': of the whole cluster. */
  readonly pauses: Map<string, Pause>;
  /** Ids of decisions that the bus took. */
  readonly told: Map<string, true>;
}

/** As of a process that just began. */
export function createMirrorMemory(): MirrorMemory {
  return { shown: new Map(), pauses: new Map(), told: new Map() };
}

const FLEETS_MAX = 2000;

/** Sets an entry; the one that was set longest ago goes, where there are too many. */
export function remember<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > FLEETS_MAX && oldest !== undefined) entries.delete(oldest);
}
