/**
 * Deliberate errors that the differential suite must catch, planted as test/support/mutants.ts does it.
 */
import { plantMutant } from '../support/mutants.ts';
import type { Mutant, PlantedMutant } from '../support/mutants.ts';

/** An error of src/core that a comparison with the built-in controller shows. */
export interface DifferentialMutant extends Mutant {
  /** Comparisons and bounds that show it; another disagreement does not count as caught. */
  readonly shownBy: readonly string[];
}

/** The errors by name. */
export const MUTANTS: Readonly<Record<string, DifferentialMutant>> = {
  placement: {
    file: 'src/core/taints.ts',
    before: 'taint.effect === input.effect &&',
    after: "(taint.effect === input.effect || taint.effect === 'PreferNoSchedule') &&",
    shownBy: ['placement'],
  },
  'max-unavailable': {
    file: 'src/core/rollout-budget.ts',
    before: 'return { maxUnavailable: isBothZero ? 1 : maxUnavailable, maxSurge: 0 };',
    after: 'return { maxUnavailable: (isBothZero ? 1 : maxUnavailable) + 1, maxSurge: 0 };',
    shownBy: ['availability', 'pod-count'],
  },
  release: {
    file: 'src/core/claim.ts',
    before: "return isKept ? 'keep' : 'release';",
    after: "return isKept ? 'keep' : 'keep';",
    shownBy: ['ownerless'],
  },
};

/** Plants one of them for all later imports of this process. */
export function plantDifferentialMutant(name: string): PlantedMutant {
  const mutant = MUTANTS[name];
  if (mutant === undefined) {
    throw new Error(`no mutant named ${name}; there are ${Object.keys(MUTANTS).join(', ')}`);
  }
  return plantMutant(name, mutant);
}
