/**
 * Bugs that tests of the simulation once could not feel: their fault never fired, or they compared too little.
 *
 * Bugs that a promise finds by seeds are canaries (test/simulation/canaries); these are held by one schedule each.
 */
import type { PlantedBug } from './planted-bug.ts';

/** The rows of the vacuous tests of item A.3 of issue 14, and of what is drawn from the commit (A.2). */
export const SIMULATION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'memo-of-the-end': {
    bug: 'a run remembers what was there when it had read its slices, not what it stood on (14 A.3, row 73)',
    file: 'src/app/reconcile/read-view.ts',
    before: '  return assemble(reads);',
    after:
      '  Object.assign(basis, { meta: (await readers.view.readMeta(ref.clusterUid)) ?? meta, daemonSet: (await readers.view.readDaemonSet(ref)) ?? daemonSet });\n  return assemble(reads);',
    killedBy: { file: 'test/simulation/races.test.ts', title: 'readSlice' },
  },
  'hash-of-its-own': {
    bug: 'a revision that is adopted gets another hash: all pods are made anew (14 A.3, row 55)',
    file: 'src/core/history-patches.ts',
    before: "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations });",
    after:
      "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations, labels: { 'controller-revision-hash': 'anew' } });",
    killedBy: { file: 'test/simulation/rows.test.ts', title: 'row 55: an orphaning cascade' },
  },
  'burst-of-251': {
    bug: 'one run makes a pod more than its burst (14 A.3, row 60)',
    file: 'src/app/reconcile/dependencies.ts',
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
};
