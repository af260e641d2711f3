/** Words of codes whose list in the code has no room for them. A code without words does not compile. */
import type { Placement } from '../../src/core/model/verdict.ts';
import type { HealthState } from '../../src/core/status/health/health-facts.ts';
import type { OutageCode } from '../../src/core/status/outages.ts';

/** Placements of `rollcall why --json`. */
export const PLACEMENTS: Readonly<Record<Placement, string>> = {
  run: 'The node should have a pod.',
  keep: 'A pod that is there stays; none is created.',
  leave: 'Pods of the DaemonSet on this node go.',
};

/** What makes an answer untrue, the worst first. */
export const OUTAGES: Readonly<Record<OutageCode, string>> = {
  stopped:
    '`rollcall stack stop` stopped the functions. It is reported until `resume`, or until a run shows that they work again.',
  frozen: 'The stack, the cluster, or the DaemonSet is frozen.',
  'watcher-silent': 'The watcher was not heard for 14 minutes. The answer is as of then.',
  'watcher-stands-by': 'Another installation holds the Lease of the watcher.',
  'functions-behind':
    '`resync` has not walked for five minutes, or a run of the DaemonSet or a step of the fleet was due and did not come.',
  'api-server-unreachable': 'The API server does not answer the functions, which go on asking.',
};

/** States of `rollcall status`, the worst first. */
export const HEALTH: Readonly<Record<HealthState, string>> = {
  NoClusters: 'No cluster is registered.',
  Unreadable: 'A registration cannot be read, which counts as frozen.',
  Rebuilt: 'The watcher names another cluster UID. Run `rollcall cluster reset` if it was rebuilt.',
  Conflict: 'Another controller works on the DaemonSets, and Rollcall has stopped there.',
  Silent: 'The watcher is not heard.',
  StandsBy: 'Another installation holds the Lease of the watcher.',
  Behind: 'Runs, or steps of a fleet, are due and do not come.',
  NeverHeard: 'The watcher was never heard.',
  Unreachable: 'The API server does not answer the functions.',
  Halted: 'A rollout of a cluster or of a fleet halted.',
  Lacking: 'A DaemonSet lacks pods; one line covers all clusters.',
  StartingUp:
    'Nodes joined longer ago than the bound and have their start-up taint; the finding says what they wait for.',
  Stuck:
    'A rollout has no canary or a window that never opens, runs are refused again and again, or another writer changes the status.',
  Unknown: 'The object, the state or the record cannot be read.',
  Invalid: 'A rollout policy, or the document of a fleet, cannot be used.',
  RemovalHeld: 'A removal of many pods waits for a person.',
  AwaitsApproval: 'A rollout waits for an approval.',
  Paused: 'A rollout is paused.',
  Returned: 'All nodes are back at the last good release, and the rollout is held.',
  Returning: 'Nodes go back to the last good release.',
  Frozen: 'A cluster, a fleet, or a DaemonSet is frozen.',
  Incomplete: 'A view is not complete.',
  Unseen: 'No run has looked at the newest generation yet.',
};
