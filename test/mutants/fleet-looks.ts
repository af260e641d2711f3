/**
 * Bugs in how a fleet of thousands is looked at, part by part: each would stop it for ever, or open a stage by what nobody saw.
 */
import type { PlantedBug } from './planted-bug.ts';

const LOOKS = 'src/app/fleet/observe/looks.ts';
const TEST = 'test/simulation/fleet-thousands.test.ts';

/** All of them. */
export const FLEET_LOOK_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-looks-without-end': {
    bug: 'a step looks at all clusters of a stage, however many they are',
    file: LOOKS,
    before: 'const isOver = this.#clock',
    after: 'const isOver = this.#count < 0 && this.#clock',
    killedBy: { file: TEST, title: 'without an invocation that runs out of time' },
  },
  'fleet-looks-lose-their-place': {
    bug: 'what a step found is forgotten with it',
    file: LOOKS,
    before: 'this.#ends === undefined || this.#count === 0',
    after: 'this.#ends === undefined || this.#count >= 0',
    killedBy: { file: TEST, title: 'without an invocation that runs out of time' },
  },
  'fleet-looks-at-the-first': {
    bug: 'clusters that roll wait until all that are done were looked at once more',
    file: LOOKS,
    before: 'turnOf(left) - turnOf(right)',
    after: '0 * (turnOf(left) - turnOf(right))',
    killedBy: { file: 'test/unit/app/fleet/observe/looks.test.ts', title: 'rolls before' },
  },
  'fleet-looks-of-before': {
    bug: 'what was seen before all were well lets the next stage open',
    file: LOOKS,
    before: 'Math.max(wellSinceMs, clock.nowMs() - OPENS_MS)',
    after: 'Math.max(0 * wellSinceMs, clock.nowMs() - OPENS_MS)',
    killedBy: { file: TEST, title: 'by what was seen before it soaked' },
  },
  'fleet-undo-waits-for-a-look': {
    bug: 'clusters that go back wait for a look at the stage that they leave',
    file: 'src/app/fleet/step/make-step.ts',
    before:
      'const isHeld = freeze !== undefined || returnTargetOf(record, fleet.strategy) !== undefined;',
    after: 'const isHeld = freeze !== undefined;',
    killedBy: { file: TEST, title: 'goes back at once when somebody orders it' },
  },
};
