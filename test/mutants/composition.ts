/**
 * Bugs in what puts the parts together: middleware, template, settings of adapters and of the watcher, published constants.
 */
import type { PlantedBug } from './planted-bug.ts';

const STACK = 'test/unit/functions/deployed-stack.test.ts';
const COMPOSED = 'test/unit/functions/deployed-composition.test.ts';
const TEMPLATE = 'test/security/template.test.ts';
const RINGS = 'each alarm rings at what is published, in time, and at no less';
const NAMESPACES = 'alarms and the dashboard look where the functions write';
const PUBLISHED = 'test/unit/composition/published-bounds.test.ts';
const DEPENDENT = 'test/unit/composition/dependent-bounds.test.ts';
const CONNECTOR = 'test/integration/adapters/kubernetes/api/cluster-connector.test.ts';
const LEASES = 'a lease is twice the function’s time where it blocks a group';

/** The rows of finding 14 A.4. */
export const COMPOSITION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'events-are-logged': {
    bug: 'the deployed logger writes each event: secrets and payloads reach CloudWatch (14 A.4)',
    file: 'functions/middleware.ts',
    before: 'logEvent: false }',
    after: 'logEvent: true }',
    killedBy: { file: STACK, title: 'logs no event' },
  },
  'metrics-lost-on-error': {
    bug: 'metrics of an invocation that fails are not published: HandlerFailures never rings (14 A.4)',
    file: 'functions/middleware.ts',
    before: '{ after: publish, onError: publish },',
    after: '{ after: publish },',
    killedBy: { file: STACK, title: 'publishes its metrics when a handler throws' },
  },
  'metrics-lost-on-success': {
    bug: 'metrics are published for invocations that fail alone (14 A.4)',
    file: 'functions/middleware.ts',
    before: '{ after: publish, onError: publish },',
    after: '{ onError: publish },',
    killedBy: { file: STACK, title: 'publishes the metrics of one invocation once' },
  },
  'another-namespace-in-code': {
    bug: 'the functions write their metrics to another namespace than they are told (14 A.4)',
    file: 'functions/middleware.ts',
    before: "namespace: process.env['POWERTOOLS_METRICS_NAMESPACE'] ?? 'Rollcall',",
    after: "namespace: 'Rollcall',",
    killedBy: { file: STACK, title: 'publishes the metrics of one invocation once' },
  },
  'another-namespace-in-template': {
    bug: 'the functions are told another namespace than that of the alarms (14 A.4)',
    file: 'serverless.yml',
    before: 'POWERTOOLS_METRICS_NAMESPACE: Rollcall/${sls:stage}',
    after: 'POWERTOOLS_METRICS_NAMESPACE: rollcall/${sls:stage}',
    killedBy: { file: TEMPLATE, title: NAMESPACES },
  },
  'alarm-of-another-service': {
    bug: 'an alarm watches a dimension that no function writes (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: '          Value: resync\n',
    after: '          Value: resyncs\n',
    killedBy: { file: TEMPLATE, title: NAMESPACES },
  },
  'lag-alarm-blown-up': {
    bug: 'the alarm on lag rings after an hour instead of a minute (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: 'Threshold: 60000\n',
    after: 'Threshold: 3600000\n',
    killedBy: { file: TEMPLATE, title: RINGS },
  },
  'age-alarm-blown-up': {
    bug: 'the alarm on the age of events rings when the clusters are long silent (14 A.4)',
    file: 'infra/alarms/queues.yml',
    before: 'Threshold: 120\n',
    after: 'Threshold: 12000\n',
    killedBy: { file: TEMPLATE, title: RINGS },
  },
  'share-alarm-blown-up': {
    bug: 'the alarm on the share of clusters in trouble wants all of them (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: 'Threshold: 2\n',
    after: 'Threshold: 100\n',
    killedBy: { file: TEMPLATE, title: RINGS },
  },
  'silent-alarm-of-the-quietest': {
    bug: 'the alarm on silent clusters looks at the smallest count of a minute (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: 'Value: silent\n      Statistic: Sum\n',
    after: 'Value: silent\n      Statistic: Minimum\n',
    killedBy: { file: TEMPLATE, title: RINGS },
  },
  'events-visibility': {
    bug: 'a crash of ingest holds its cluster back for 200 s instead of 20 (14 A.4)',
    file: 'infra/queues.yml',
    before: 'VisibilityTimeout: 20\n',
    after: 'VisibilityTimeout: 200\n',
    killedBy: { file: TEMPLATE, title: LEASES },
  },
  'ingest-outlives-its-lease': {
    bug: 'ingest may take longer than half of what its messages are leased for (14 A.4)',
    file: 'serverless.yml',
    before: `    # protocol.md rule 23: at most ten seconds. The visibility of its queue follows from it.
    timeout: 10
`,
    after: `    # protocol.md rule 23: at most ten seconds. The visibility of its queue follows from it.
    timeout: 20
`,
    killedBy: { file: TEMPLATE, title: LEASES },
  },
  'schedule-every-sixty-hours': {
    bug: 'the schedule of resync fires every sixty hours (14 A.4)',
    file: 'serverless.yml',
    before: 'resync-walk.ts).\n          rate: rate(1 minute)',
    after: 'resync-walk.ts).\n          rate: rate(60 hours)',
    killedBy: {
      file: TEMPLATE,
      title: 'resync and fleet are called as often as the alarms about their stop count',
    },
  },
  'hints-every-sixty-hours': {
    bug: 'resync hints every key once in sixty hours instead of six (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'hintEveryMs: 6 * 3_600_000',
    after: 'hintEveryMs: 60 * 3_600_000',
    killedBy: { file: 'test/unit/app/resync/resync.test.ts', title: 'costs a hint its hour' },
  },
  'transport-takes-a-minute': {
    bug: 'a request may take 60 s while safety counts on it being dead after twice ten (14 A.4)',
    file: 'src/adapters/kubernetes/transport/transport.ts',
    before: 'options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS',
    after: 'options.requestTimeoutMs ?? 60_000',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/transport/transport.test.ts',
      title: 'gives up after the time that safety counts on',
    },
  },
  'restore-unseen-by-the-lease': {
    bug: 'a Lease whose version fell is no sign that etcd was restored (14 A.4)',
    file: 'src/watcher/lease/lease.ts',
    before: "    if (isBelow(facts, versionOf(held))) return { kind: 'over', end: 'restored' };\n",
    after: '',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'a Lease of an earlier watcher, below the own version',
    },
  },
  'stand-by-waits-for-a-lost-holder': {
    bug: 'who stands by waits for a holder of a history that etcd has lost (14 A.4)',
    file: 'src/watcher/lease/lease.ts',
    before: '      if (isBelow(facts, floor)) return true;\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'takes a Lease from before its own at once',
    },
  },
  'two-hundred-silent-streams': {
    bug: 'a stream may be silent two hundred times before its kind is listed (14 A.4)',
    file: 'src/watcher/observe/list-watch.ts',
    before: 'SILENT_STREAMS_MAX = 2;',
    after: 'SILENT_STREAMS_MAX = 200;',
    killedBy: { file: 'test/unit/watcher/observe/list-watch.test.ts', title: 'twice in a row' },
  },
  'eventual-batch-reads': {
    bug: 'items that are read together are read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/batches.ts',
    before: 'Keys: [], ConsistentRead: true, ...projected }',
    after: 'Keys: [], ConsistentRead: false as true, ...projected }',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/batched-reader.test.ts',
      title: 'are strongly consistent',
    },
  },
  'eventual-left-over-reads': {
    bug: 'what a throttled table left over is read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/batches.ts',
    before: '{ Keys, ConsistentRead: true, ...this.#projected }',
    after: '{ Keys, ConsistentRead: false as true, ...this.#projected }',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/batched-reader.test.ts',
      title: 'ask again for keys that a throttled table left over, as consistently',
    },
  },
  'breaker-ten-times-weaker': {
    bug: 'thirty failing runs open a breaker instead of three (14 A.4)',
    file: 'src/core/model/breaker.ts',
    before: 'failuresToOpen: 3,',
    after: 'failuresToOpen: 30,',
    killedBy: {
      file: 'test/unit/core/model/breaker.test.ts',
      title: 'opens after three failing runs',
    },
  },
  'time-out-of-a-minute': {
    bug: 'one time-out of 60 s for transport and safety alike: two of them outlast a run (14 A.4)',
    file: 'src/core/pod/request-life.ts',
    before: 'REQUEST_TIMEOUT_MS = 10_000',
    after: 'REQUEST_TIMEOUT_MS = 60_000',
    killedBy: { file: DEPENDENT, title: 'has time for two requests that are never answered' },
  },
  'connector-stretches-time-outs': {
    bug: 'who makes a connector may give requests more time than safety counts on (14 A.4)',
    file: 'src/adapters/kubernetes/api/cluster-connector.ts',
    before: 'Math.min(requestTimeoutMs ?? Infinity, REQUEST_TIMEOUT_MS)',
    after: 'requestTimeoutMs ?? REQUEST_TIMEOUT_MS',
    killedBy: { file: CONNECTOR, title: 'gives writes the time that safety counts on' },
  },
  'run-of-five-minutes': {
    bug: 'reconcile is stopped after five minutes while intents count on thirty seconds (14 A.4)',
    file: 'serverless.yml',
    before: `    # Two requests that are never answered, and what is recorded after them (ADR 0019).
    timeout: 30
`,
    after: `    # Two requests that are never answered, and what is recorded after them (ADR 0019).
    timeout: 300
`,
    killedBy: {
      file: 'test/unit/app/reconcile/time-outs.test.ts',
      title: 'are those that are kept',
    },
  },
  'snapshots-asked-for-once': {
    bug: 'resync asks again for a lost snapshot after three and a half days (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'snapshotRequestEveryMs: 300_000',
    after: 'snapshotRequestEveryMs: 300_000_000',
    killedBy: { file: DEPENDENT, title: 'is asked for again twice before the doctor' },
  },
  'ingest-asks-once': {
    bug: 'ingest asks again for a lost snapshot after seventeen hours (14 A.4)',
    file: 'src/app/ingest/process/dependencies.ts',
    before: 'snapshotRequestEveryMs: 60_000',
    after: 'snapshotRequestEveryMs: 60_000_000',
    killedBy: {
      file: 'test/unit/app/ingest/epochs.test.ts',
      title: 'asks for a snapshot at most once a minute',
    },
  },
  'lost-timers-found-late': {
    bug: 'a timer counts as lost a hundred minutes after its time (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'overdueGraceMs: 60_000',
    after: 'overdueGraceMs: 6_000_000',
    killedBy: {
      file: 'test/unit/app/resync/resync.test.ts',
      title: 'finds a lost timer a quarter of an',
    },
  },
  'walk-without-a-reserve': {
    bug: 'a walk of resync goes on until its function is stopped (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'WALK_RESERVE_MS = 5_000',
    after: 'WALK_RESERVE_MS = 0',
    killedBy: { file: DEPENDENT, title: 'is over before its function is' },
  },
  'silence-told-late': {
    bug: 'resync tells of silent clusters after hours, reconcile leaves them alone sooner (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'silenceBoundMs: 15 * 60_000',
    after: 'silenceBoundMs: 15 * 3_600_000',
    killedBy: { file: DEPENDENT, title: 'is judged alike by who decides and by who tells' },
  },
  'silence-of-ten-days': {
    bug: 'a cluster counts as silent after ten days (14 A.3)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'silenceBoundMs: 15 * 60_000',
    after: 'silenceBoundMs: 10 * 86_400_000',
    killedBy: { file: PUBLISHED, title: 'nothing was heard of the cluster for' },
  },
  'pods-fresh-for-hours': {
    bug: 'pods go by a view that is hours old (14 A.4)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'podsFreshMs: 90_000',
    after: 'podsFreshMs: 9_000_000',
    killedBy: {
      file: 'test/unit/app/reconcile/freshness-rules.test.ts',
      title: 'else waits for the watcher',
    },
  },
  'retries-for-days': {
    bug: 'what an API server refused is tried again after days (14 A.4)',
    file: 'src/core/retry/retry-table.ts',
    before: 'LONGEST_MS = 300_000',
    after: 'LONGEST_MS = 300_000_000',
    killedBy: { file: PUBLISHED, title: 'after a back-off (' },
  },
  'rare-heartbeats': {
    bug: 'a quiet watcher beats every hundred minutes, and its cluster counts as silent (14 A.4)',
    file: 'src/watcher/session/options.ts',
    before: 'idleMs: 13 * 60 * 1000',
    after: 'idleMs: 100 * 60 * 1000',
    killedBy: { file: DEPENDENT, title: 'is not what a quiet cluster keeps' },
  },
  'lease-of-a-moment': {
    bug: 'a Lease counts as free before its holder renews it (14 A.4)',
    file: 'src/watcher/session/options.ts',
    before: 'durationMs: 40_000',
    after: 'durationMs: 4_000',
    killedBy: { file: DEPENDENT, title: 'outlasts three renewals that failed' },
  },
  'pace-without-a-bound': {
    bug: 'a flush that touches much holds the next one back for minutes (14 A.4)',
    file: 'src/watcher/session/options.ts',
    before: 'intervalMsMax: 2_000',
    after: 'intervalMsMax: 200_000',
    killedBy: { file: PUBLISHED, title: 'for each slice that a flush touched' },
  },
  'messages-without-room': {
    bug: 'a message leaves no room for its age, and the queue refuses it (14 A.4)',
    file: 'src/watcher/session/options.ts',
    before: 'messageBytesMax: 256 * 1024 - 64',
    after: 'messageBytesMax: 256 * 1024',
    killedBy: { file: DEPENDENT, title: 'of a message leave room for its age' },
  },
  'hung-runs-go-on': {
    bug: 'a run goes on after an API server let it time out (14 A.4)',
    file: 'src/app/isolation/talk-tally.ts',
    before: 'HANG_MS = 2_000',
    after: 'HANG_MS = 20_000',
    killedBy: {
      file: 'test/unit/app/isolation/talk-tally.test.ts',
      title: 'is given up after one time-out',
    },
  },
  'slow-servers-unmarked': {
    bug: 'a cluster whose requests take most of a run does not count as slow (14 A.4)',
    file: 'src/app/isolation/talk-tally.ts',
    before: 'SLOW_MS = 5_000',
    after: 'SLOW_MS = 50_000',
    killedBy: {
      file: 'test/unit/app/isolation/talk-tally.test.ts',
      title: 'is slow when its answers took five seconds',
    },
  },
  'connecting-takes-half-a-minute': {
    bug: 'an API server that takes no connection holds a run for its whole time (14 A.4)',
    file: 'src/adapters/kubernetes/transport/transport.ts',
    before: 'CONNECT_TIMEOUT_MS = 3_000',
    after: 'CONNECT_TIMEOUT_MS = 30_000',
    killedBy: { file: DEPENDENT, title: 'gives up connecting before it gives up reading' },
  },
  'live-reads-take-a-minute': {
    bug: 'one object is waited for as long as nothing else: a hung cluster holds places (14 A.4)',
    file: 'src/adapters/kubernetes/api/cluster-access.ts',
    before: 'OBJECT_READ_TIMEOUT_MS = 5_000',
    after: 'OBJECT_READ_TIMEOUT_MS = 50_000',
    killedBy: { file: PUBLISHED, title: 'cluster that begins to hang adds' },
  },
  'breaker-open-for-an-hour': {
    bug: 'an open breaker asks again after hours (14 A.4)',
    file: 'src/core/model/breaker.ts',
    before: 'openMaxMs: 30_000',
    after: 'openMaxMs: 3_600_000',
    killedBy: { file: DEPENDENT, title: 'outlasts neither the probe of a run' },
  },
  'eventual-pages': {
    bug: 'pages of a partition are read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/table.ts',
    before: `        ConsistentRead: true,
        KeyConditionExpression`,
    after: `        ConsistentRead: false,
        KeyConditionExpression`,
    killedBy: {
      file: 'test/unit/adapters/dynamodb/table.test.ts',
      title: 'are strongly consistent on the wire',
    },
  },
  'eventual-single-reads': {
    bug: 'an item that is read alone is read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/batches.ts',
    before: 'Key: key,\n      ConsistentRead: true,',
    after: 'Key: key,\n      ConsistentRead: false,',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/table.test.ts',
      title: 'are strongly consistent on the wire',
    },
  },
  'lagging-reads-everywhere': {
    bug: 'every function reads what may lag, not resync alone (issue 16, ADR 0051)',
    file: 'functions/composition.ts',
    before: 'readsMayLag === true ? withLaggingReads(client)',
    after: 'readsMayLag !== false ? withLaggingReads(client)',
    killedBy: { file: COMPOSED, title: 'reads what may lag where nothing is decided by it' },
  },
  'lagging-tokens': {
    bug: 'resync reads the token before the one that was renewed just now (issue 16, ADR 0051)',
    file: 'functions/composition.ts',
    before: 'const tokens = createDynamoCredentialStore(registryTable);',
    after:
      'const tokens = createDynamoCredentialStore({ ...registryTable, client: withLaggingReads(client) });',
    killedBy: { file: COMPOSED, title: 'reads the token that only asks, where' },
  },
  'calls-outlast-functions': {
    bug: 'a call to AWS may take longer than the function that makes it (14 A.4)',
    file: 'src/adapters/aws/create-client.ts',
    before: 'requestTimeoutMs: 2000, attemptsMax: 4',
    after: 'requestTimeoutMs: 20_000, attemptsMax: 4',
    killedBy: { file: DEPENDENT, title: 'has time to record: a call that has to be tried twice' },
  },
  'no-time-to-report': {
    bug: 'a handler is aborted when its function is stopped: nothing is logged or counted (14 A.4)',
    file: 'functions/middleware.ts',
    before: 'TIMEOUT_RESERVE_MS = 700',
    after: 'TIMEOUT_RESERVE_MS = 7',
    killedBy: {
      file: 'test/unit/functions/middleware.test.ts',
      title: 'aborts the signal about 700 ms',
    },
  },
  'tokens-renewed-once-a-day': {
    bug: 'the renewer runs once a day, and its tokens live four hours (14 A.4)',
    file: 'infra/renewer/cronjob.yaml',
    before: "schedule: '17 * * * *'",
    after: "schedule: '17 3 * * *'",
    killedBy: { file: DEPENDENT, title: 'renews a token four times in its life' },
  },
  'watcher-killed-at-once': {
    bug: 'a watcher that is stopped has no time to give its Lease back (14 A.4)',
    file: 'infra/watcher/deployment.yaml',
    before: 'terminationGracePeriodSeconds: 15',
    after: 'terminationGracePeriodSeconds: 1',
    killedBy: { file: DEPENDENT, title: 'stops a watcher no sooner than' },
  },
  'view-in-the-registry': {
    bug: 'the view is read from the table of the registry (14 A.4)',
    file: 'functions/composition.ts',
    before: 'tableName: settings.ROLLCALL_VIEW_TABLE }',
    after: 'tableName: settings.ROLLCALL_REGISTRY_TABLE }',
    killedBy: { file: COMPOSED, title: 'reads registrations from the registry' },
  },
  'queues-exchanged': {
    bug: 'hints go to the delay queue and timers to the reconcile queue (14 A.4)',
    file: 'functions/composition.ts',
    before: `reconcileQueueUrl: settings.ROLLCALL_RECONCILE_QUEUE_URL,
    delayQueueUrl: settings.ROLLCALL_DELAY_QUEUE_URL,`,
    after: `reconcileQueueUrl: settings.ROLLCALL_DELAY_QUEUE_URL,
    delayQueueUrl: settings.ROLLCALL_RECONCILE_QUEUE_URL,`,
    killedBy: { file: COMPOSED, title: 'sends a timer that is due to the reconcile queue' },
  },
  'egress-unasked': {
    bug: 'the deployed connector does not ask what this deployment allows an endpoint (14 A.4)',
    file: 'functions/composition.ts',
    before: '      egress: settings.egress,',
    after: "      egress: { loopback: 'allowed' },",
    killedBy: { file: COMPOSED, title: 'reads no token for an endpoint' },
  },
  'resync-acts': {
    bug: 'resync, which only asks, reads the token that acts (14 A.4)',
    file: 'functions/resync/handler.ts',
    before: "connects: 'ask'",
    after: "connects: 'act'",
    killedBy: { file: COMPOSED, title: 'reads the token that only asks' },
  },
  'poison-stays-in-its-lane': {
    bug: 'a hint that fails in a lane holds the other keys of its cluster (14 A.4)',
    file: 'functions/reconcile/take-batch.ts',
    before: '.catch((error: unknown) => leaveGroup({ record, hint, error, queue, log }))',
    after: '.finally(() => void [leaveGroup, log])',
    killedBy: { file: COMPOSED, title: 'sends a hint that fails in a lane on alone' },
  },
  'lost-timers-of-nobody': {
    bug: 'a timer that was given up is read as a hint, and its key is not looked at again (14 A.4)',
    file: 'functions/dead-letter/handler.ts',
    before: "includes('-delay-dead-letter')",
    after: "includes('-delays-dead-letter')",
    killedBy: { file: COMPOSED, title: 'has the key of a lost hint, and of a lost timer' },
  },
  'lines-without-their-request': {
    bug: 'log lines do not say which invocation wrote them (14 A.4)',
    file: 'functions/middleware.ts',
    before: '    injectLambdaContext(logger, { resetKeys: true, logEvent: false }),\n',
    after: '',
    killedBy: { file: STACK, title: 'logs no event' },
  },
  'both-replicas-take-the-lease': {
    bug: 'of two replicas each takes the Lease at its start, whatever it is told (14 A.4)',
    file: 'src/watcher/main.ts',
    before: 'leaseStart: start, installation }',
    after: "installation, start = 'take' }",
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'stands by from its start where it is told to',
    },
  },
  'ingest-acts-with-its-token': {
    bug: 'ingest opens the token that may act, not the one that may only ask (B.3)',
    file: 'functions/ingest/handler.ts',
    before: "connects: 'ask',",
    after: "connects: 'act',",
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'reads the token that only asks for the snapshot that a lost message',
    },
  },
};
