/**
 * Where fleets are mirrored: one item of the registry's table (core/fleet/told/fleet-mirror.ts).
 */
import type { FleetMirror } from '../../core/fleet/told/fleet-mirror.ts';

/** Store of the mirror. */
export interface FleetMirrorStore {
  /** Strongly consistent; NO_MIRROR where nobody named one. Rejects when it cannot be read. */
  readMirror(): Promise<FleetMirror>;
  /** If the stored version still is this one's; the written one is one more. */
  writeMirror(mirror: FleetMirror): Promise<'written' | 'lost'>;
}
