/**
 * Bugs by which evidence of a bad rollout is not told, or by which telling it costs a message each time (issue 17).
 */
import type { PlantedBug } from './planted-bug.ts';

const READ = 'src/core/projections/pod-trouble.ts';
const READ_TEST = 'test/unit/core/projections/pod-trouble.test.ts';
const COST_TEST = 'test/unit/watcher/session/trouble.test.ts';

/** The rows of trouble. */
export const TROUBLE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'pull-words-flap': {
    bug: 'each try of a failed pull is two messages and two runs of its key (L5)',
    file: READ,
    before: 'return FAILED_PULLS.has(word) ? PULL_BACK_OFF : word;',
    after: 'return word;',
    killedBy: { file: COST_TEST, title: 'is one message, at once' },
  },
  'sidecars-are-well': {
    bug: 'a sidecar or init container that fails is never told',
    file: READ,
    before: "for (const field of ['initContainerStatuses', 'containerStatuses'] as const) {",
    after: "for (const field of ['containerStatuses'] as const) {",
    killedBy: { file: READ_TEST, title: 'is told of where it ended last' },
  },
  'stops-are-failures': {
    bug: 'what a kubelet makes of a pod that was deleted counts as its failure',
    file: 'src/core/projections/project.ts',
    before: 'pod.isTerminating ? undefined : readTrouble(status, reading)',
    after: 'readTrouble(status, reading)',
    killedBy: { file: READ_TEST, title: 'is each that is going' },
  },
  'judged-by-nobody': {
    bug: 'a canary whose image cannot be pulled is never judged: no message comes while it waits (L1)',
    file: 'src/core/stages/find-breach.ts',
    before: ', moments: lateMoments',
    after: '',
    killedBy: {
      file: 'test/simulation/halted-rollouts.test.ts',
      title: 'by bad-image although nothing comes',
    },
  },
};
