/**
 * Bugs by which a staged rollout goes on by what it did not see, or sleeps over what it waits for (ADR 0055, S16).
 */
import type { PlantedBug } from './planted-bug.ts';

const SOAK = 'src/core/rollout/soak.ts';
const SOAK_TEST = 'test/unit/core/stages/soak.test.ts';
const LOST_TEST = 'test/unit/core/stages/lost-canaries.test.ts';
const CANARY_TEST = 'test/unit/core/stages/canary.test.ts';

/** The rows of stages. */
export const STAGE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'stages-healed-nodes-go-first': {
    bug: 'a canary that was made wider for broken pods takes their nodes though they serve by then: the revision is on most nodes untried',
    file: 'src/core/stages/steps.ts',
    before: '.slice(0, beyond));',
    after: '.slice(0, 0));',
    killedBy: {
      file: 'test/unit/core/stages/steps.test.ts',
      title: 'leaves those that serve again before their turn',
    },
  },
  'stages-left-nodes-beside-a-canary': {
    bug: 'nodes that a halted revision was left on, and that serve, are given the next one beside its whole canary',
    file: 'src/core/stages/start-record.ts',
    before: '[...broken, ...pickCanary(input, left)]',
    after: '[...left.map(nameOf), ...pickCanary(input)]',
    killedBy: {
      file: 'test/unit/core/stages/start-record.test.ts',
      title: 'is no wider for nodes that a halted revision was left on',
    },
  },
  'stages-lost-canary-sleeps': {
    bug: 'nothing wakes a rollout when a lost canary is to be replaced',
    file: 'src/core/stages/find-breach.ts',
    before: ', moments: lossesOf',
    after: '',
    killedBy: { file: LOST_TEST, title: 'nothing else would wake it' },
  },
  'stages-added-canary-may-die': {
    bug: 'the node that went in the place of a canary dies as well, and nothing halts',
    file: 'src/core/stages/find-breach.ts',
    before: '{ find: findCanariesLost,',
    after: '{ find: () => undefined,',
    killedBy: { file: LOST_TEST, title: 'halts when the added node dies as well' },
  },
  'stages-soak-lost-in-a-moment': {
    bug: 'a view that is too old for a moment begins a soak anew, again and again',
    file: SOAK,
    before: 'isWell(step, at) ? continued(record, at) : {}',
    after: 'isWell(step, at) && at.isViewFresh ? continued(record, at) : {}',
    killedBy: { file: SOAK_TEST, title: 'is not lost in a view that is too old for a moment' },
  },
  'stages-dark-by-pods-alone': {
    bug: 'a gap in what is heard of nodes is none',
    file: 'src/core/view/unheard.ts',
    before: "['Node', 'Pod']",
    after: "['Pod']",
    killedBy: { file: 'test/unit/core/view/unheard.test.ts', title: 'whichever was longer' },
  },
  'stages-looks-in-step': {
    bug: 'looks come in step with heartbeats, always just before one, and find the view too old for ever',
    file: 'src/core/stages/gate.ts',
    before: '277_000',
    after: '300_000',
    killedBy: { file: SOAK_TEST, title: 'in no step with bookmarks' },
  },
  'stages-third-revision-stays': {
    bug: 'a rollback leaves pods of a third revision, edited away on its canary: unproven, and watched by nobody',
    file: 'src/core/stages/former.ts',
    before: 'isAll ? unprovenBefore(record) : NONE',
    after: 'NONE',
    killedBy: {
      file: 'test/unit/core/stages/former.test.ts',
      title: 'of a third revision that nothing proved',
    },
  },
  'stages-canary-beside-refused-nodes': {
    bug: 'nodes that are refused their former pods use up the budget of a canary that was chosen before, and it waits for ever',
    file: 'src/core/stages/canary.ts',
    before: 'const before = isBegun ? able : withRefused(able, input);',
    after: 'const before = able;',
    killedBy: { file: CANARY_TEST, title: 'goes to a node that is refused its former pod' },
  },
  'stages-former-trimmed': {
    bug: 'the revision that nodes go back to is trimmed while no pod runs it',
    file: 'src/core/history/history-trim.ts',
    before: ', ...context.kept]',
    after: ']',
    killedBy: {
      file: 'test/unit/core/history/history-trim.test.ts',
      title: 'never deletes one that a staged rollout may give to a node',
    },
  },
};
