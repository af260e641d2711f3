/** Bugs by which a status says something else than is the case, or a halt goes untold (issue 17). */
import type { PlantedBug } from './planted-bug.ts';

const NODES = 'src/app/rollout/rollout-status.ts';
const NODES_TEST = 'test/unit/app/rollout/rollout-status.test.ts';
const NOTICE = 'src/app/reconcile/status/notices.ts';
const STAGED_TEST = 'test/unit/app/reconcile/staged-rollout.test.ts';
const EVIDENCE = 'src/core/rollout/shown-evidence.ts';
const EVIDENCE_TEST = 'test/unit/core/rollout/shown-evidence.test.ts';

/** The rows of what is shown of rollouts. */
export const SHOWN_BUGS: Readonly<Record<string, PlantedBug>> = {
  'status-frees-a-budget-that-is-used-up': {
    bug: 'a budget of which too much is used has less than nothing free (17.9)',
    file: NODES,
    before: 'freeNodes: Math.max(0, free)',
    after: 'freeNodes: free',
    killedBy: { file: NODES_TEST, title: 'has nothing free where more is used than it allows' },
  },
  'halt-is-not-logged': {
    bug: 'a halt is an Event in a cluster, and nowhere else (issue 17)',
    file: NOTICE,
    before: "if (outcome === 'halted' && breach !== undefined) {",
    after: "if (outcome === 'halted') continue;\n    else if (breach !== undefined) {",
    killedBy: { file: STAGED_TEST, title: 'gives the DaemonSet its proven template back' },
  },
  'status-hides-missing-controls': {
    bug: 'where no other node is left to compare with, nobody is told that the test of nodes is blind (17.4)',
    file: EVIDENCE,
    before: 'isWithoutControls: trial.isWithoutControls',
    after: 'isWithoutControls: false',
    killedBy: { file: EVIDENCE_TEST, title: 'nobody was left to compare with' },
  },
};
