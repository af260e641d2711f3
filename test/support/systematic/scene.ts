/**
 * A scene: one thing that users or nodes do to a settled cluster, recorded once without any fault.
 *
 * A scene is deterministic: its worlds differ by the planned fault alone. `overtake` is what the
 * cluster does next: it makes wrong whatever a run of the recorded part intended, for functions that
 * wake up late (faults rows 21, 30).
 */
import type { World } from '../simulation/world.ts';

export interface Scene {
  readonly name: string;
  readonly nodes: readonly string[];
  /** Brings the world to where the recorded part begins. It is settled before and after. */
  readonly prepare: (world: World) => void;
  /** What happens; every passage from here on is recorded. */
  readonly act: (world: World) => void | Promise<void>;
  /** What happens to the settled result. */
  readonly overtake: (world: World) => void;
  /** True: a fault changes neither how many pods are made nor how many end (faults row 5). */
  readonly keepsCounts: boolean;
}
