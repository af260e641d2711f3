/**
 * What a step works with: the world, the decider that counts it, dice of its own, and what it leaves for later.
 *
 * What is left for later happens at its time, or when faults stop: nobody writes into the quiet that follows.
 */
import type { Dice } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import type { World } from './world.ts';

export interface StepContext {
  readonly world: World;
  readonly decider: FaultDecider;
  readonly dice: Dice;
  /** Names that steps choose from; not all exist at any time. */
  readonly nodes: readonly string[];
  readonly sets: readonly string[];
  readonly later: (delayMs: number, act: () => void) => void;
}

/** Names of nodes in a world of few. */
const NODES_LEAST = 6;
const SETS = ['agent', 'proxy', 'logger', 'storage', 'metrics'] as const;

/** Names of nodes of a world that begins with so many: one more at least, that comes later. */
export function nodeNames(nodesCount: number): readonly string[] {
  const length = Math.max(NODES_LEAST, nodesCount + 1);
  return Array.from({ length }, (_, index) => `n${index + 1}`);
}

/** Names of DaemonSets of a world of so many. */
export function setNames(setsCount = 2): readonly string[] {
  return SETS.slice(0, setsCount);
}

export function editableSet(world: World, dice: Dice): string | undefined {
  const sets = world.api.list('daemonsets');
  const names = sets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return names.length === 0 ? undefined : dice.pick(names).metadata.name;
}
