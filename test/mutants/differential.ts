/**
 * Bugs in the comparison with the built-in controller, and in what its new kinds of scenarios are about. Those that only a
 * comparison of two control planes kills are in test/differential/mutants.ts.
 */
import { MUTANTS } from '../differential/mutants.ts';
import type { Mutant } from '../support/mutants.ts';
import type { PlantedBug } from './planted-bug.ts';

const EXCUSED = 'test/unit/differential/excused.test.ts';
const GENERATE = 'test/unit/differential/generate.test.ts';
const COMPARE = 'test/unit/differential/compare.test.ts';
const LATENESS = 'test/unit/differential/lateness.test.ts';
const ORDER = 'test/unit/differential/rollout-order.test.ts';
const WATCH = 'test/unit/differential/watch-bounds.test.ts';
const OVERLAP = 'test/unit/differential/overlap.test.ts';

/** What the suite of control planes catches in minutes, a unit test catches at once. */
function ofMutant(name: string): Mutant {
  const mutant = MUTANTS[name];
  if (mutant === undefined) throw new Error(`no mutant named ${name}`);
  const { file, before, after } = mutant;
  return { file, before, after };
}

/** The rows of finding 14 A.6, and of 14 A.5 where it is about this suite. */
export const DIFFERENTIAL_BUGS: Readonly<Record<string, PlantedBug>> = {
  'one-agreeing-replay-clears': {
    bug: 'a disagreement is chance where one of two replays agrees (14 A.5)',
    file: 'test/differential/excused.ts',
    before: '&& !replays.some(isDisagreement);',
    after: '&& !replays.every(isDisagreement);',
    killedBy: { file: EXCUSED, title: 'is no chance where one of two replays agrees' },
  },
  'chance-without-a-cap': {
    bug: 'as many disagreements are chance as there are (14 A.5, A.6)',
    file: 'test/differential/excused.ts',
    before: 'if (byChance.length > excusesMax(confirmed.length)) {',
    after: 'if (byChance.length > confirmed.length) {',
    killedBy: { file: EXCUSED, title: 'excuses none where there are two of twenty' },
  },
  'fields-are-never-drawn': {
    bug: 'no scenario selects nodes by matchFields (14 A.6)',
    file: 'test/differential/generate-kinds.ts',
    before: "operator: model.seeded.pick(['In', 'NotIn', 'NotIn'] as const), nodes }",
    after: "operator: model.seeded.pick(['NotIn', 'NotIn', 'NotIn'] as const), nodes }",
    killedBy: { file: GENERATE, title: 'into one scenario of ten, at least' },
  },
  'fields-of-several-values': {
    bug: 'scenarios ask for fields of several values, which the API server refuses (14 A.6)',
    file: 'test/differential/set-affinity.ts',
    before: 'values: [nodeNameOf(place, node)] }));',
    after: 'values: nodes.map((it) => nodeNameOf(place, it)) }));',
    killedBy: { file: GENERATE, title: 'only as the API server accepts it' },
  },
  'overlap-always-compared': {
    bug: 'who takes an orphan that two sets select is held against Rollcall (14 A.6)',
    file: 'test/differential/overlap.ts',
    before: 'return takersOf(daemonSets) > 1;',
    after: 'return takersOf(daemonSets) > 2;',
    killedBy: { file: OVERLAP, title: 'overlapping selectors' },
  },
  'rollouts-compared-by-count-alone': {
    bug: 'during a rollout an unavailable pod may be passed over (14 A.6)',
    file: 'test/differential/compare.ts',
    before: '    compareOrder(input, { nodes, unaligned });\n',
    after: '',
    killedBy: { file: COMPARE, title: 'was passed over, though the counts are equal' },
  },
  'witness-of-order-asleep': {
    bug: 'the witness names no pod that a rollout passed over (14 A.6)',
    file: 'test/differential/rollout-order.ts',
    before: 'return !isPodAvailable(pod, owner) && isKnownLost(node);',
    after: 'return !isPodAvailable(pod, owner) && !isKnownLost(node);',
    killedBy: { file: ORDER, title: 'is old, alone on its node, and not available' },
  },
  'surge-delete-beside-anything': {
    bug: 'with surge any other pod of the node excuses the deletion of an available one (14 A.5)',
    file: 'test/differential/watch-bounds.ts',
    before: '(surgeMax === 0 || isPodAvailable(it, owner)),',
    after: '(surgeMax >= 0 || isPodAvailable(it, owner)),',
    killedBy: { file: WATCH, title: 'is not excused by one in its place that is not available' },
  },
  'witness-of-the-budget-generous': {
    bug: 'the witness allows one node more than maxUnavailable (14 A.5)',
    file: 'test/differential/watch-bounds.ts',
    before: 'unavailable.length < unavailableMax) return;',
    after: 'unavailable.length <= unavailableMax) return;',
    killedBy: { file: WATCH, title: 'is not excused where the budget is used up' },
  },
  'late-without-bound': {
    bug: 'Rollcall may need any multiple of the time of the original (14 A.6)',
    file: 'test/differential/lateness.ts',
    before: 'if (pointsCount >= POINTS_MIN && ratio > LATE_RATIO_MAX) {',
    after: 'if (pointsCount < 0 && ratio > LATE_RATIO_MAX) {',
    killedBy: { file: LATENESS, title: 'more than three times what it is granted' },
  },
  'late-points-not-counted': {
    bug: 'what Rollcall does long after both were quiet is no fault (14 A.6)',
    file: 'test/differential/lateness.ts',
    before: "notes.filter(({ reason }) => reason === 'rollcall-late').length;",
    after: "notes.filter(({ reason }) => reason === 'never').length;",
    killedBy: { file: LATENESS, title: 'allows one in fifty points to change after quiet' },
  },
  'fields-ignored': {
    bug: 'required affinity does not look at matchFields (14 A.6)',
    ...ofMutant('fields-ignored'),
    killedBy: {
      file: 'packages/base/test/unit/node-affinity.test.ts',
      title: 'ANDs expressions and fields',
    },
  },
};
