/**
 * Bugs by which a shrink goes although nobody confirmed it, or waits although nothing holds it (ADR 0057, S14).
 */
import type { PlantedBug } from './planted-bug.ts';

const APP_TEST = 'test/unit/app/reconcile/shrink-rules.test.ts';

/** The rows of the interlock. */
export const INTERLOCK_BUGS: Readonly<Record<string, PlantedBug>> = {
  'shrink-not-recorded': {
    bug: 'a hold is told anew by each run, and nobody can confirm it',
    file: 'src/app/reconcile/run/record-state.ts',
    before: 'const after = plan.shrink?.record ?? shrink;',
    after: 'const after = shrink;',
    killedBy: { file: APP_TEST, title: 'one Event names the cause' },
  },
  'shrink-confirmed-asleep': {
    bug: 'a confirmation by the command is not looked at until something else happens',
    file: 'src/core/interlock/confirm-shrink.ts',
    before: 'const { memo: _memo, ...kept } = state;',
    after: 'const kept = state;',
    killedBy: { file: APP_TEST, title: 'lose them once the state says so' },
  },
};
