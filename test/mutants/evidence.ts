/**
 * Bugs in what a staged rollout is judged by: pods, nodes against their peers, and which nodes try first (issue 17).
 */
import type { PlantedBug } from './planted-bug.ts';

const CORE = 'src/core/health';
const UNIT = 'test/unit/core/health';
const SOAK_TEST = 'test/unit/core/stages/soak.test.ts';

/** The rows of issue 17, Build 3 and 4. */
export const EVIDENCE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'back-off-of-before-is-a-crash': {
    bug: 'a pod in a back-off that began before the rollout halts it (17 Build 3: never the present word)',
    file: `${CORE}/pod-signs.ts`,
    before: 'last: isNew ? last : undefined',
    after: 'last',
    killedBy: { file: `${UNIT}/pod-evidence.test.ts`, title: 'in a back-off that began before' },
  },
  'signs-are-mixed': {
    bug: 'later in a rollout two nodes with different troubles halt it (17 Build 3: the same reason)',
    file: `${CORE}/breach.ts`,
    before: 'Map.groupBy(failed, ({ failure }) => failure.sign)',
    after: 'Map.groupBy(failed, ({ failure }) => failure.kind)',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'with the same sign' },
  },
  'excused-failure-passes-a-soak': {
    bug: 'a failure that is excused lets its step soak: pods that are killed for memory are proven',
    file: 'src/core/stages/find-breach.ts',
    before: 'return findExcusedHold(breachInput(look));',
    after: 'return look.input.nowMs < 0 ? findExcusedHold(breachInput(look)) : undefined;',
    killedBy: { file: SOAK_TEST, title: 'keeps the soak from passing for an hour' },
  },
  'message-repeats-any-word': {
    bug: 'what somebody wrote into a status is repeated in events and logs (17 Build 3)',
    file: `${CORE}/breach.ts`,
    before: 'const said = PLAIN_WORD.test(word) ? word : sign;',
    after: 'const said = word;',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'repeats no word' },
  },
  'dead-before-is-a-failure': {
    bug: 'nodes that were dead before the rollout count when they die again (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: '[...trial.outside, ...trial.failed]',
    after: '[...trial.failed]',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'dead before are outside' },
  },
  'flaky-node-is-drawn-again': {
    bug: 'a node that flaps is one more draw each time, so that it halts a harmless release',
    file: `${CORE}/trial.ts`,
    before: '[...trial.outside, ...trial.failed]',
    after: '[...trial.outside]',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'however often the node flaps' },
  },
  'canary-takes-controls': {
    bug: 'a canary uses up a stratum although others have nodes left (17 Build 2)',
    file: `${CORE}/canary-spread.ts`,
    before: '(keepsControl ? 0 : 1)',
    after: '(keepsControl ? 0 : 0)',
    killedBy: { file: `${UNIT}/canary-spread.test.ts`, title: 'leaves a control' },
  },
};
