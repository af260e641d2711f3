/** What a step works with: the world, the decider that counts it, and dice of its own. */
import type { Dice } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import type { World } from './world.ts';

/** One step's surroundings. */
export interface StepContext {
  readonly world: World;
  readonly decider: FaultDecider;
  readonly dice: Dice;
}

/** Names of nodes, and of DaemonSets, that steps choose from; not all exist at any time. */
export const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'] as const;
export const SETS = ['agent', 'proxy'] as const;
