/**
 * Deliberate errors that the differential suite must catch, planted as test/support/mutants.ts does it.
 */
import { plantMutant, type Mutant, type PlantedMutant } from '../support/mutants.ts';
import type { StepKind } from './step-kinds.ts';

/** An error of src/core that a comparison with the built-in controller shows. */
export interface DifferentialMutant extends Mutant {
  /** Comparisons and bounds that show it; another disagreement does not count as caught. */
  readonly shownBy: readonly string[];
  /** Only scenarios that bring this are played. */
  readonly needs?: StepKind;
}

/** The errors by name. */
export const MUTANTS: Readonly<Record<string, DifferentialMutant>> = {
  placement: {
    at: 'packages/base/src/taints.ts#findUntoleratedTaint',
    change: 'taint.effect === input.effect &&',
    to: "(taint.effect === input.effect || taint.effect === 'PreferNoSchedule') &&",
    shownBy: ['placement'],
  },
  'max-unavailable': {
    at: 'src/core/daemon-set/strategy.ts#resolveBudget',
    change: 'return { maxUnavailable: isBothZero ? 1 : maxUnavailable, maxSurge: 0 };',
    to: 'return { maxUnavailable: (isBothZero ? 1 : maxUnavailable) + 1, maxSurge: 0 };',
    shownBy: ['availability', 'pod-count'],
  },
  release: {
    at: 'src/core/pod/owner.ts#claimOf',
    change: "return isKept ? 'keep' : 'release';",
    to: "return isKept ? 'keep' : 'keep';",
    shownBy: ['ownerless'],
  },
  'greater-and-less-swapped': {
    at: 'packages/base/src/node-affinity.ts#compileLabelRequirement',
    change: "return operator === 'Gt' ? value > bound : value < bound;",
    to: "return operator === 'Gt' ? value < bound : value > bound;",
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'greater-than',
  },
  'fields-ignored': {
    at: 'packages/base/src/node-affinity.ts#compileTerm',
    change: '...(term.matchFields ?? []).map(compileFieldRequirement)',
    to: '...(term.matchFields ?? []).slice(0, 0).map(compileFieldRequirement)',
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'match-fields-not-in',
  },
  'node-name-ignored': {
    at: 'src/core/placement/placement.ts#preparePlacement',
    change: "nodeName: spec.nodeName === '' ? undefined : spec.nodeName",
    to: 'nodeName: undefined',
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'node-name',
  },
  'min-ready-ignored': {
    at: 'src/core/pod/pod-facts.ts#minReadyMsOf',
    change: 'return Math.max(0, daemonSet.spec.minReadySeconds ?? 0) * 1000;',
    to: 'return Math.max(0, daemonSet.spec.minReadySeconds ?? 0) * 0;',
    shownBy: ['status', 'pod-count', 'placement'],
    needs: 'long-min-ready',
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
