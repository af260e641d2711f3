/**
 * Bugs by which hints of one batch harm each other (ADR 0048).
 */
import type { PlantedBug } from './planted-bug.ts';

const BATCH = 'functions/reconcile/take-batch.ts';
const BATCH_TEST = 'test/unit/functions/take-batch.test.ts';
const TURNS = 'functions/reconcile/plan-turns.ts';
const TURNS_TEST = 'test/unit/functions/plan-turns.test.ts';

/** The rows of batches of hints. */
export const BATCH_BUGS: Readonly<Record<string, PlantedBug>> = {
  'batch-waits-for-the-slowest': {
    bug: 'a key whose run has ended waits for a run that hangs (L3)',
    file: BATCH,
    before: '      this.#isLate = true;',
    after: '      this.#isLate = false;',
    killedBy: { file: BATCH_TEST, title: 'lets nobody wait for a run that hangs longer' },
  },
  'batch-begins-late': {
    bug: 'a run begins with what an earlier one of its lane left of the time (L3)',
    file: BATCH,
    before: 'const isTooLate = this.#hasBegun &&',
    after: 'const isTooLate = !this.#hasBegun &&',
    killedBy: { file: BATCH_TEST, title: 'sends back to its lane what would begin late' },
  },
  'batch-forgets-receives': {
    bug: 'poison is sent again as a new message, and never becomes a dead letter (L4)',
    file: BATCH,
    before: "batch.take([turn], 'failed')",
    after: "batch.take([turn], 'resent')",
    killedBy: { file: BATCH_TEST, title: 'its count is never lost' },
  },
  'batch-fails-one-of-a-turn': {
    bug: 'of hints that were one run, all but the first are acknowledged though it failed (L4)',
    file: BATCH,
    before: 'byId.get(itemIdentifier)?.records ?? []',
    after: 'byId.get(itemIdentifier)?.record ?? []',
    killedBy: { file: BATCH_TEST, title: 'fails all records of a turn whose run throws' },
  },
  'batch-loses-due': {
    bug: 'a timer that was folded into another hint is taken for one that still stands (protocol 12)',
    file: TURNS,
    before: 'hint: isDue ? turn.hint : next.hint',
    after: 'hint: next.hint',
    killedBy: { file: TURNS_TEST, title: 'say due for all when the timer of one is gone' },
  },
  'batch-trusts-poison': {
    bug: 'a hint that ends its process takes its neighbours with it each time (L4)',
    file: TURNS,
    before: 'receivesOf(record) >= WARY_RECEIVES_MIN',
    after: 'receivesOf(record) < 0',
    killedBy: {
      file: TURNS_TEST,
      title: 'are taken alone when they were received again and again',
    },
  },
  'table-stands-still': {
    bug: 'the table of npm start shows what was half written while it was read (issue 16)',
    file: 'src/cli/start/lookout.ts',
    before: 'const runs = before === after ? before : undefined;',
    after: 'const runs = after ?? before;',
    killedBy: {
      file: 'test/unit/cli/start/lookout.test.ts',
      title: 'does not stand when a function ran while it was read',
    },
  },
};
