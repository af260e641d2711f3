/**
 * Deliberate errors that the differential suite must catch, planted as test/support/mutants.ts does it.
 */
import { plantMutant } from '../support/mutants.ts';
import type { Mutant, PlantedMutant } from '../support/mutants.ts';
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
    file: 'packages/base/src/taints.ts',
    before: 'taint.effect === input.effect &&',
    after: "(taint.effect === input.effect || taint.effect === 'PreferNoSchedule') &&",
    shownBy: ['placement'],
  },
  'max-unavailable': {
    file: 'src/core/daemon-set/strategy.ts',
    before: 'return { maxUnavailable: isBothZero ? 1 : maxUnavailable, maxSurge: 0 };',
    after: 'return { maxUnavailable: (isBothZero ? 1 : maxUnavailable) + 1, maxSurge: 0 };',
    shownBy: ['availability', 'pod-count'],
  },
  release: {
    file: 'src/core/view/view.ts',
    before: "return isKept ? 'keep' : 'release';",
    after: "return isKept ? 'keep' : 'keep';",
    shownBy: ['ownerless'],
  },
  'greater-and-less-swapped': {
    file: 'packages/base/src/node-affinity.ts',
    before: "return operator === 'Gt' ? value > bound : value < bound;",
    after: "return operator === 'Gt' ? value < bound : value > bound;",
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'greater-than',
  },
  'fields-ignored': {
    file: 'packages/base/src/node-affinity.ts',
    before: '    ...(term.matchFields ?? []).map(compileFieldRequirement),\n',
    after: '    ...(term.matchFields ?? []).slice(0, 0).map(compileFieldRequirement),\n',
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'match-fields-not-in',
  },
  'node-name-ignored': {
    file: 'src/core/placement/placement.ts',
    before: "nodeName: spec.nodeName === '' ? undefined : spec.nodeName,",
    after: 'nodeName: undefined,',
    shownBy: ['placement', 'pod-count', 'status'],
    needs: 'node-name',
  },
  'min-ready-ignored': {
    file: 'src/core/pod/pod-facts.ts',
    before: 'return Math.max(0, daemonSet.spec.minReadySeconds ?? 0) * 1000;',
    after: 'return Math.max(0, daemonSet.spec.minReadySeconds ?? 0) * 0;',
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
