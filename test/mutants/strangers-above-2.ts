/** Bugs of functions, the engine, infra and the command line that a second stranger to the tests chose (strangers-2.ts). */
import type { PlantedBug } from './planted-bug.ts';

/** The rows. */
export const MORE_STRANGERS_ABOVE: Readonly<Record<string, PlantedBug>> = {
  'group-goes-on-after-failure': {
    bug: 'after a failure the rest of its message group is handled out of order (14)',
    file: 'functions/records.ts',
    before: 'skipGroupOnError: true',
    after: 'skipGroupOnError: false',
    killedBy: {
      file: 'test/unit/functions/middleware.test.ts',
      title: 'stops a group at its first failure',
    },
  },
  'no-time-for-metrics': {
    bug: 'a function that runs out of time has no time to say so (14)',
    file: 'functions/middleware.ts',
    before: 'TIMEOUT_RESERVE_MS = 700;',
    after: 'TIMEOUT_RESERVE_MS = 7;',
    killedBy: {
      file: 'test/unit/functions/middleware.test.ts',
      title: 'aborts the signal about 700 ms before the function is stopped',
    },
  },
  'suffixes-not-enforced': {
    bug: 'the allow-list of hosts is read and not applied (14)',
    file: 'functions/composition.ts',
    before: '      egress: settings.egress,\n',
    after: '      egress: { ...settings.egress, hostSuffixes: [] },\n',
    killedBy: {
      file: 'test/security/egress.test.ts',
      title: 'opens loopback at stage local on this machine alone',
    },
  },
  'failures-by-wrong-index': {
    bug: 'beside an unreadable timer another one than the failed one comes again (14)',
    file: 'functions/requeue/handler.ts',
    before: 'const batchItemFailures = readable\n',
    after: 'const batchItemFailures = event.Records\n',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'has the timer come again that could not be sent on',
    },
  },
  'lost-timer-forgotten': {
    bug: 'the key of a lost timer is not looked at again (14)',
    file: 'functions/dead-letter/handler.ts',
    before: "queue === 'delay' ? hintOfTimer(body) : hintOf(body);",
    after: 'hintOf(body);',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'has the key of a lost hint, and of a lost timer',
    },
  },
  'lane-left-once': {
    bug: 'a key that leaves its lane twice within five minutes is swallowed by deduplication (14)',
    file: 'functions/reconcile/leave-lane.ts',
    before: '`alone/${messageId}`',
    after: "'alone/'",
    killedBy: {
      file: 'test/unit/functions/leave-lane.test.ts',
      title: 'leaves its lane: poison holds no other key of its cluster (L4)',
    },
  },
  'suffix-with-dot': {
    bug: 'a suffix that is written with its dot lets no host pass (14)',
    file: 'functions/egress-policy.ts',
    before: ".replace(/^\\./, '')",
    after: '',
    killedBy: {
      file: 'test/unit/functions/egress-policy.test.ts',
      title: 'takes a list of domains however it is written',
    },
  },
  'resync-deadline-beyond': {
    bug: 'resync walks until it is stopped: what it did is not recorded (14)',
    file: 'functions/resync/handler.ts',
    before: 'remainingMs() - WALK_RESERVE_MS',
    after: 'remainingMs() + WALK_RESERVE_MS',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'walks no longer than it has time to write down what it did',
    },
  },
  'renewal-tried-once': {
    bug: 'a credential whose renewal failed once is never renewed again (14)',
    file: 'src/local/credential-renewal.ts',
    before: '      schedule(clock.nowMs() + RETRY_MS);\n',
    after: '',
    killedBy: {
      file: 'test/unit/local/credential-renewal.test.ts',
      title: 'is asked for again when that failed',
    },
  },
  'reserved-not-told': {
    bug: 'places that other functions reserved are not missed (14)',
    file: 'src/cli/stack/judge-stack.ts',
    before: 'if (unreserved >= CONCURRENCY_NEEDED) return [];',
    after: 'if (total >= CONCURRENCY_NEEDED) return [];',
    killedBy: {
      file: 'test/unit/cli/stack/judge-stack.test.ts',
      title: 'warns of the quota of a new account, and of places that others reserved',
    },
  },
};
