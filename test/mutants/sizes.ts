/**
 * Bugs in what bounds items: each would let a state, or the record of a fleet, grow until no write of it is taken any more.
 */
import type { PlantedBug } from './planted-bug.ts';

const LARGEST = 'test/property/adapters/dynamodb/largest-items.test.ts';
const BOUND = 'src/core/plan/bound-state.ts';

/** All of them. */
export const SIZE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'state-keeps-every-wait': {
    bug: 'a state keeps the refusals and back-offs of 15,000 nodes, and is too large to be written',
    file: BOUND,
    before: 'WAITS_MAX = 1000',
    after: 'WAITS_MAX = 100_000',
    killedBy: { file: LARGEST, title: 'hold the state of a DaemonSet' },
  },
  'state-takes-any-intents': {
    bug: 'a run records more deletes although thousands are open',
    file: BOUND,
    before: 'INTENTS_MAX = 2000',
    after: 'INTENTS_MAX = 20_000',
    killedBy: { file: LARGEST, title: 'hold the state of a DaemonSet' },
  },
  'state-too-large-throws': {
    bug: 'a state that is too large for its item is a throw, for ever',
    file: 'src/app/reconcile/run/record-state.ts',
    before: 'isItemTooLarge(error) ? halvedState(state) : undefined',
    after: 'isItemTooLarge(error) ? undefined : halvedState(state)',
    killedBy: {
      file: 'test/unit/app/reconcile/run/write-state.test.ts',
      title: 'where all of them do not fit',
    },
  },
};
