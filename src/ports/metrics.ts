/** Every metric of functions and watcher: what it counts, and by which outcomes. docs/reference/metrics.md is made of it. */

/** What a metric tells. */
export interface MetricRow {
  /** A sentence without its full stop. */
  readonly about: string;
  /** What its dimension `outcome` holds; absent: it has none. */
  readonly outcome?: string;
  /** Absent: a count. */
  readonly unit?: 'Milliseconds' | 'Bytes';
}

/** The metrics by name. */
export const METRICS = {
  HandlerFailures: {
    about: 'Invocations of a function that failed as a whole',
    outcome: 'class of the error',
  },
  RecordFailures: { about: 'Records that SQS delivers again' },
  MessageRefusals: { about: 'Hints and timers that cannot be read', outcome: 'code' },
  ClusterRefusals: {
    about: 'Requests that an API server refused: a missing right, admission, a quota',
    outcome: 'code, or `read`',
  },
  EgressRefusals: { about: 'Endpoints that may not be connected to', outcome: 'reason' },
  TokenFaults: { about: 'Connections without a usable bound token', outcome: 'fault' },
  CredentialMessages: {
    about: 'Sealed tokens taken in; `older`: one as new is kept already',
    outcome: '`stored`, `older`',
  },
  CredentialRefusals: { about: 'Sealed tokens refused', outcome: 'code' },
  RefusalsUnkept: {
    about:
      'Refused messages of unverified senders without a note: the write failed, or the process had noted twenty of the sender in the hour',
    outcome: 'queue',
  },
  RefusedSenders: {
    about: 'Senders of a refused message or token, of whom none was refused for a day before',
    outcome: 'code',
  },
  ReconcileRuns: { about: 'Runs by their end', outcome: 'result' },
  ReconcileDeferrals: { about: 'Runs that were deferred', outcome: 'code' },
  ReconcileRefusals: { about: 'Hints that were refused for good', outcome: 'reason' },
  ReconcileCreates: { about: 'Pods created' },
  ReconcileDeletes: { about: 'Pods deleted' },
  ReconcileRefusedPods: { about: 'Pods that an API server refused' },
  ReconcileEventsLost: { about: 'Events that could not be written' },
  ReconcileStuck: { about: 'Runs that back off as long as they ever do', outcome: 'code' },
  ReconcileInvariants: {
    about: 'Requests and writes left out because they would have broken a promise; each is a bug',
    outcome: 'promise, such as `S1`',
  },
  ReconcileStages: {
    about:
      'Steps of staged rollouts; `lost`: a canary node went NotReady, `soak-lost`: a soak began anew three times, `invalid`: a policy cannot be read',
    outcome: '`opened`, `halted`, `complete`, `lost`, `soak-lost`, `invalid`',
  },
  StartUpTaints: {
    about: 'Start-up taints that were to be removed from nodes, by the answer',
    outcome: '`removed`, `changed`, `refused`, `open`',
  },
  ReconcileShrinks: {
    about: 'Removals of many pods at once; `alarmed`: in a mode in which Rollcall does not act',
    outcome: '`held`, `alarmed`, `confirmed`, `ended`',
  },
  ReconcileLostRaces: { about: 'Runs that lost to another run of the same DaemonSet' },
  ReconcileDuration: { about: 'Duration of a run', unit: 'Milliseconds' },
  FleetSteps: {
    about:
      'Steps of FleetDaemonSets; `lost`: another step or an order wrote first, and nothing was sent',
    outcome: '`decided`, `stepped`, `unchanged`, `lost`, `invalid`, `unreadable`, `error`',
  },
  FleetDecisions: {
    about:
      'Decisions on FleetDaemonSets, each once; `held`: a cluster of the stage would refuse the release, `unreadable`: this release cannot read the document',
    outcome: 'kind of the decision, such as `halted` or `stage-opened`',
  },
  FleetApplies: {
    about: 'Manifests given to clusters, by the answer',
    outcome: '`applied`, `failed`, `unanswered`',
  },
  FleetEvents: { about: 'Decisions sent to the event bus', outcome: '`put`, `lost`' },
  FleetMirrors: {
    about: 'Attempts to update a mirror object',
    outcome: '`shown`, `not-registered`, `frozen`, `not-connected`, `unavailable`, `refused`',
  },
  FleetNotifierFailures: {
    about: 'Failures to report on a fleet, whose rollout goes on',
    outcome: '`log`, `tell`, `show`, `hide`',
  },
  BreakerRefusals: { about: 'Runs that an open circuit breaker deferred' },
  BreakerChanges: { about: 'Changes of circuit breakers', outcome: '`opened`, `closed`' },
  ConflictingControllers: {
    about: 'Clusters whose sentinel another controller touched; or runs that found no sentinel',
    outcome: '`sentinel`, `sentinel-missing`',
  },
  ConflictSuspected: {
    about:
      'Writes of a DaemonSet’s status by another field manager, which pause it for ten minutes',
  },
  IngestMessages: { about: 'Messages of watchers, by result', outcome: 'result' },
  IngestRefusals: { about: 'Messages of watchers that were refused', outcome: 'code' },
  IngestFailures: { about: 'Messages of watchers that SQS delivers again' },
  IngestHints: { about: 'Hints sent' },
  IngestLag: {
    about: 'Time from the send of a watcher to the write of the view',
    unit: 'Milliseconds',
  },
  IngestSetHashAlarms: { about: 'Views that differed from their watcher twice within an hour' },
  IngestItemsTooLarge: {
    about: 'Items too large for the table; each run of that DaemonSet reads the objects live',
    outcome: '`slice`, `daemonset`',
  },
  HintsFolded: { about: 'Hints that shared the run of another hint in their batch' },
  HintsSentBack: { about: 'Hints that went back to the queue because their batch took too long' },
  ViewLosses: { about: 'Views that became incomplete', outcome: 'reason' },
  LeaseChecks: { about: 'Live reads of the Lease of a watcher', outcome: 'answer' },
  SnapshotRequests: { about: 'Snapshots that `ingest` and `resync` asked for', outcome: 'result' },
  DeadLetters: { about: 'Dead letters', outcome: 'queue/code' },
  RequeueTimers: { about: 'Timers forwarded, sent on, or failed', outcome: 'result' },
  ResyncClusters: {
    about: 'Clusters that `resync` looked at, by the first trouble found',
    outcome: '`heard`, `failed`, or an outcome of `ClusterTroubles`',
  },
  ClusterTroubles: {
    about:
      'Clusters that stay in a trouble as long as its alarm says, once, and again after an hour without it',
    outcome:
      '`silent`, `never-heard`, `incomplete`, `unreachable`, `forbidden`, `no-token`, `egress-refused`',
  },
  TroubledClusters: { about: 'Clusters in one of those troubles, at the end of a walk; zero too' },
  RegisteredClusters: { about: 'Clusters that the walk looked at' },
  ResyncUnfinished: { about: 'Walks of `resync` that did not reach the end of the registry' },
  WatcherSends: { about: 'Sends of the watcher', outcome: 'result' },
  WatcherMessageBytes: { about: 'Size of a message', unit: 'Bytes' },
  WatcherHeartbeats: { about: 'Messages without a change' },
  WatcherFilteredEvents: { about: 'Changes that could not move a decision, and were not sent' },
  WatcherAnnouncements: { about: 'Snapshots announced', outcome: 'reason' },
  WatcherEpochEnds: { about: 'Epochs that ended', outcome: 'reason' },
  WatcherStreamEnds: { about: 'Watch streams that ended', outcome: 'reason' },
  WatcherOpaqueObjects: { about: 'Objects sent without their content', outcome: 'reason' },
  WatcherUnidentifiedObjects: { about: 'Objects without a name or UID' },
  WatcherBugs: { about: 'Something that cannot happen; each is worth an alarm', outcome: 'place' },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Name of a metric. */
export type MetricName = keyof typeof METRICS;
