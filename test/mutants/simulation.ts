/**
 * Bugs that tests of the simulation once could not feel: their fault never fired, or they compared too little.
 *
 * Bugs that a promise finds by seeds are canaries (test/simulation/canaries); these are held by one schedule each.
 */
import type { PlantedBug } from './planted-bug.ts';

/** The rows of the vacuous tests of finding 14 A.3, and of what is drawn from the commit (14 A.2). */
export const SIMULATION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'memo-of-the-end': {
    bug: 'a run remembers what was there when it had read its slices, not what it stood on (14 A.3, row 73)',
    file: 'src/app/reconcile/read/read-view.ts',
    before: '  return assemble({',
    after:
      '  Object.assign(stored, { meta: (await readers.view.readMeta(ref.clusterUid)) ?? meta, daemonSet: (await readers.view.readDaemonSet(ref)) ?? daemonSet });\n  return assemble({',
    killedBy: { file: 'test/simulation/races.test.ts', title: 'readSlice' },
  },
  'hash-of-its-own': {
    bug: 'a revision that is adopted gets another hash: all pods are made anew (14 A.3, row 55)',
    file: 'src/core/history/history-patches.ts',
    before: "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations });",
    after:
      "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations, labels: { 'controller-revision-hash': 'anew' } });",
    killedBy: { file: 'test/simulation/rows.test.ts', title: 'row 55: an orphaning cascade' },
  },
  'burst-of-251': {
    bug: 'one run makes a pod more than its burst (14 A.3, row 60)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'burstPodsMax: 250,',
    after: 'burstPodsMax: 251,',
    killedBy: { file: 'test/simulation/rows.test.ts', title: 'row 60, S9: a storm' },
  },
  'same-sample-always': {
    bug: 'the systematic faults that npm test plays are the same for each commit (14 A.2)',
    file: 'test/support/systematic/sweep.ts',
    before: 'index % stride === offset % stride',
    after: 'index % stride === 0 * offset',
    killedBy: { file: 'test/unit/support/sample.test.ts', title: 'from every offset' },
  },
  'no-execute-forgotten': {
    bug: 'a taint that ends pods ends none (14 A.3, row 52)',
    file: 'packages/base/src/taints.ts',
    before: 'taint.effect === input.effect &&',
    after: "taint.effect === input.effect && taint.effect !== 'NoExecute' &&",
    killedBy: { file: 'test/simulation/rows.test.ts', title: 'row 52: taints and tolerations' },
  },
  'own-creates-forgotten': {
    bug: 'an own pod that no view shows is made again (14 A.3, protocol 3)',
    file: 'src/core/intents/intents.ts',
    before: "if (!isMet) return 'unseen';",
    after: "if (!isMet) return 'settled';",
    killedBy: { file: 'test/simulation/protocol.test.ts', title: 'protocol 3: a mark' },
  },
  'own-creates-expire': {
    bug: 'half an hour without a word settles an own create (14 A.3, row 13)',
    file: 'src/core/intents/intents.ts',
    before: "if (!isMet) return 'unseen';",
    after: "if (!isMet) return isDead(intent, input) ? 'settled' : 'unseen';",
    killedBy: {
      file: 'test/simulation/upstream-untested.test.ts',
      title: 'expectation expiry; half an hour',
    },
  },
  'silence-is-no-reason': {
    bug: 'a cluster that nobody heard of for half an hour is acted upon (14 A.3, protocol 1)',
    file: 'src/core/view/freshness.ts',
    before: 'if (silent.length === 0) return undefined;',
    after: 'if (silent.length >= 0) return undefined;',
    killedBy: { file: 'test/simulation/protocol.test.ts', title: 'protocol 1: work' },
  },
  'any-sender': {
    bug: 'whoever may send to the queue speaks for any cluster (14 A.3, row 63)',
    file: 'src/app/ingest/message/identity.ts',
    before: "if (registration.senderRoleId !== context.senderRoleId) return 'wrong-sender';",
    after: "if (registration.senderRoleId === '') return 'wrong-sender';",
    killedBy: {
      file: 'test/simulation/identity.test.ts',
      title: 'row 63, S6: messages of a wrong sender',
    },
  },
  'relabelled-is-kept': {
    bug: 'a pod that was given other labels as it was made is not let go (14 A.3, S1)',
    file: 'src/core/view/view.ts',
    before: "return isKept ? 'keep' : 'release';",
    after: "return isKept ? 'keep' : 'ignore';",
    killedBy: {
      file: 'test/simulation/other-writers.test.ts',
      title: '5, S1: a create that is accepted with other labels',
    },
  },
  'epochs-wait-longer': {
    bug: 'a lower epoch waits eighteen minutes instead of thirteen (14 A.3, protocol 15)',
    file: 'src/app/ingest/process/dependencies.ts',
    before: 'epochSilenceMs: 780_000,',
    after: 'epochSilenceMs: 1_080_000,',
    killedBy: {
      file: 'test/simulation/restarts.test.ts',
      title: 'protocol 15: without a credential',
    },
  },
  'few-receives': {
    bug: 'messages are given up while a table is throttled (14 A.3, protocol 23)',
    file: 'test/support/simulation/queues.ts',
    before: 'visibility: 20, receivesMax: 1000',
    after: 'visibility: 20, receivesMax: 5',
    killedBy: { file: 'test/simulation/protocol.test.ts', title: 'protocol 23: a throttled table' },
  },
  'looks-each-hour': {
    bug: 'what does not get any further is looked at once an hour, not each five minutes (14 A.3, L5)',
    file: 'src/core/retry/retry-table.ts',
    before: 'LONGEST_MS = 300_000;',
    after: 'LONGEST_MS = 3_600_000;',
    killedBy: {
      file: 'test/unit/app/reconcile/looks.test.ts',
      title: 'at a pod that lives and that the view never shows go to five minutes',
    },
  },
  'start-by-any-record': {
    bug: 'a create is judged by what is on record of its name, not by what its own run said (protocol 5)',
    file: 'test/support/simulation/start-audit.ts',
    before: 'Math.min(this.#startsByMs.get(name) ?? Infinity, ownByMs)',
    after: 'this.#startsByMs.get(name) ?? ownByMs',
    killedBy: {
      file: 'test/unit/support/start-audit.test.ts',
      title: 'no later than its own run recorded',
    },
  },
  'start-by-the-last-record': {
    bug: 'a create is judged by the record of a run that ends sooner (protocol 5)',
    file: 'test/support/simulation/start-audit.ts',
    before: 'Math.max(intent.startsByMs, intent.earlier?.startsByMs ?? 0)',
    after: 'intent.startsByMs',
    killedBy: {
      file: 'test/unit/support/start-audit.test.ts',
      title: 'as late as its own run recorded',
    },
  },
  'told-before-meta': {
    bug: 'a pod counts as told when its slice is stored, though META does not cover it (S13, protocol 20)',
    file: 'test/support/simulation/name-audit.ts',
    before: 'if (compareStamps(pod.stamp, covered) > 0) left.push(pod);',
    after: 'if (compareStamps(pod.stamp, covered) > 1) left.push(pod);',
    killedBy: {
      file: 'test/unit/support/name-audit.test.ts',
      title: 'is none while that slice is ahead of META',
    },
  },
  'red-night-leaves-nothing': {
    bug: 'the plans that broke at night are kept nowhere (14 A.2)',
    file: '.ci/nightly',
    before: '--seeds 5000 --keep-to "$kept"',
    after: '--seeds 5000 --no-keep',
    killedBy: { file: 'test/unit/docs/testing.test.ts', title: 'the night plays fresh seeds' },
  },
};
