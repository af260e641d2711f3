/**
 * Freezes of the whole stack: one item of the registry's table (core/may-act/freeze.ts). The truth; a
 * function that cannot read it does not act.
 *
 * Beside it who stopped the functions, and why, for people; and when that was, which is counted as unknown (core/coverage).
 */
import type { StopNote, StopSpan } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import type { FleetMirror } from '../../core/fleet/told/fleet-mirror.ts';

/** Store of the freeze, and of the note of a stop. */
export interface FreezeStore {
  /** Strongly consistent; NO_FREEZE where nothing ever was. Rejects when it cannot be read: that counts as frozen. */
  readFreeze(): Promise<Freeze>;
  /** If the stored version still is this one's; the written one is one more. */
  writeFreeze(freeze: Freeze): Promise<'written' | 'lost'>;
  /** Undefined: the stack was not stopped, or the item cannot be read. */
  readStop(): Promise<StopNote | undefined>;
  /** Over whatever is there; undefined empties it. */
  writeStop(note: StopNote | undefined): Promise<void>;
  /** Stops that are over, the oldest first: coverage knows nothing of those times. Rejects when they cannot be read. */
  readStops(): Promise<readonly StopSpan[]>;
  /** Over whatever is there. */
  writeStops(stops: readonly StopSpan[]): Promise<void>;
}

/** Store of the mirror. */
export interface FleetMirrorStore {
  /** Strongly consistent; NO_MIRROR where none is configured. Rejects when it cannot be read. */
  readMirror(): Promise<FleetMirror>;
  /** If the stored version still is this one's; the written one is one more. */
  writeMirror(mirror: FleetMirror): Promise<'written' | 'lost'>;
}
