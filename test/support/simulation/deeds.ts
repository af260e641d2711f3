/**
 * The names of everything that a plan can do to a world: faults, which befall what happens anyway, and steps,
 * which make something happen. Numbers are rows of the catalogue (docs/promise.md).
 */

/** Faults: each opportunity either fires or does not. */
export const FAULTS = [
  // Messages: lost for ever (26), copied out of order, deleted in vain (22), not accepted.
  'drop-event',
  'drop-hint',
  'drop-timer',
  'copy',
  'keep',
  'ambiguous-send',
  'send-error',
  // Functions: killed at any await (1, 29), frozen and woken again (21, 30).
  'kill',
  'freeze',
  // Requests to the API server: applied and unanswered (10), late (78), failed (9), 500 on pod create (12),
  // conflicts of status writes (11), failed reads (35).
  'lose-answer',
  'stuck',
  'server-error',
  'create-error',
  'status-conflict',
  'read-error',
  // Pods: refused (57), born terminating (42), held by a finalizer (47), failing at once (44).
  'admission',
  'quota',
  'born-terminating',
  'pod-finalizer',
  'failing-pods',
  // Webhooks: one request of a batch refused, with 422 for patches; the hash label taken off a pod, a pod that no node
  // does for, an answer after ten seconds (12, 57).
  'refuse-delete',
  'refuse-status',
  'refuse-patch',
  'refuse-revision',
  'strip-hash',
  'pin-nowhere',
  'slow-webhook',
  // A crowded API server: 429 with Retry-After for one flow, the functions' or a watcher's; a scheduler that binds late.
  'throttle-functions',
  'throttle-watcher',
  'slow-bind',
  // A function that computes: its deadline passes between two calls (29).
  'busy-function',
  // The schedule of resync: a tick that never comes, comes twice, comes late.
  'skip-resync',
  'double-resync',
  'late-resync',
  // Tables: throttled (32), written and unanswered, own success seen as a lost compare-and-set (33).
  'table-read-error',
  'table-write-error',
  'table-answer-lost',
  'table-answer-late',
  'registry-error',
  // The watcher: failing requests, expired lists (35) and watches, lost answers of its Lease, a replica that lags (3).
  'watch-error',
  'list-expired',
  'watch-expired',
  'lease-answer-lost',
  'replica-lag',
] as const;

export type Fault = (typeof FAULTS)[number];

/** Steps of churn and steps of misfortune. */
export const STEPS = [
  // Users.
  'roll',
  'change-strategy',
  'change-set',
  'remake-set', // 38
  'freeze-cluster', // 92
  'take-credential',
  'freeze-stack', // 92, of the stack or of a DaemonSet by name
  'take-name', // 41
  'make-orphan', // 85
  // Other managers: objects get another version, and nothing that a plan rests on changes.
  'rewrite-objects',
  'annotate-objects',
  'annotate-often',
  // Metadata that is erased, status that another writes, edits undone at once.
  'apply-again',
  'peer-status',
  'edit-undo', // 4
  // Somebody who may edit another namespace, against those who share his cluster.
  'hostile-tenant',
  // Releases under a policy: a new image, an ill one, a pause; a node that is not Ready for a while; one that flaps, always the same.
  'release',
  'release-ill',
  'revert-release',
  'undo-rollout',
  'pause-rollout',
  'approve-rollout',
  'scale-pool', // an autoscaler takes a pool to zero, or brings it back
  'unready-node',
  'flap-node',
  // Of copilot: the built-in controller, and what Rollcall works by beside it.
  'leaderless',
  'slow-built-in',
  'take-rights',
  'opt-out',
  'roll-by-itself',
  'change-mode',
  'heal-back',
  'drain-node',
  // Others who end, move or make pods.
  'evict-pod',
  'replace-pod',
  'relabel-pods',
  'restore-pods', // 85
  'orphan-set', // 40
  // Nodes and pods.
  'lose-node', // 48
  'shut-down-node', // 44
  'flap-labels',
  'strip-labels', // a label is taken off all nodes, or one after the other, or put back
  'change-node',
  'remove-node',
  'scale-in',
  'scale-out',
  'remake-node', // 39
  'end-pod',
  'unready-pods', // 49
  'dead-kubelet', // 48
  'close-namespace', // 57
  'limit-range', // pods get defaults that their template does not have
  'injector', // a webhook gives each pod a toleration and a label, for a while or for good
  'refuse-namespace', // 57: no pod at all is admitted, for minutes
  'taint-for-seconds', // NoExecute, tolerated for seconds: pods are evicted again and again
  // Watchers.
  'restart-watcher',
  'second-watcher', // 72
  'new-watcher', // a deployment: another one in the place of those that run
  'sleep-watcher', // 80
  'silent-watch', // 36
  'lose-way', // 89
  'freeze-cache', // 2
  'freeze-pods', // 2
  // Everything else.
  'pause-queue', // 27
  'stall-queue', // 27, for up to an hour
  'narrow-mapping', // a mapping has all the invocations that it may
  'narrow-queue', // messages are refused for their size
  'cool-down', // 31
  'compact',
  'step-clock', // 14
  'outlive-expectations', // 13
  'restore-etcd', // 71
  'lose-view', // 34
] as const;

export type StepKind = (typeof STEPS)[number];

export type Deed = Fault | StepKind;
