/**
 * Bugs in what puts the parts together: middleware, template, settings of adapters and of the watcher, published constants.
 */
import type { PlantedBug } from './planted-bug.ts';

const STACK = 'test/unit/functions/deployed-stack.test.ts';
const TEMPLATE = 'test/security/template.test.ts';
const RINGS = 'each alarm rings at what is published, in time, and at no less';
const NAMESPACES = 'alarms and the dashboard look where the functions write';
const LEASES = 'a lease is twice the function’s time where it blocks a group';

/** The rows of item A.4 of issue 14. */
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
    before: '          Value: reconcile\n',
    after: '          Value: reconciler\n',
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
  'never-heard-alarm-blown-up': {
    bug: 'the alarm on clusters that were never heard of wants a thousand of them (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: `EvaluationPeriods: 12
      Threshold: 0
`,
    after: `EvaluationPeriods: 12
      Threshold: 1000
`,
    killedBy: { file: TEMPLATE, title: RINGS },
  },
  'silent-alarm-of-the-quietest': {
    bug: 'the alarm on silent clusters looks at the smallest count of a minute (14 A.4)',
    file: 'infra/alarms/clusters.yml',
    before: 'Statistic: Maximum\n',
    after: 'Statistic: Minimum\n',
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
    before: 'rate: rate(1 minute)',
    after: 'rate: rate(60 hours)',
    killedBy: { file: TEMPLATE, title: 'resync is called as often as the alarm about its stop' },
  },
  'hints-every-sixty-hours': {
    bug: 'resync hints every key once in sixty hours instead of six (14 A.4)',
    file: 'src/app/resync/dependencies.ts',
    before: 'hintEveryMs: 6 * 3_600_000',
    after: 'hintEveryMs: 60 * 3_600_000',
    killedBy: { file: 'test/unit/app/resync.test.ts', title: 'costs a hint its hour' },
  },
  'transport-takes-a-minute': {
    bug: 'a request may take 60 s while safety counts on it being dead after twice ten (14 A.4)',
    file: 'src/adapters/kubernetes/transport.ts',
    before: 'options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS',
    after: 'options.requestTimeoutMs ?? 60_000',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/transport.test.ts',
      title: 'gives up after the time that safety counts on',
    },
  },
  'restore-unseen-by-the-lease': {
    bug: 'a Lease whose version fell is no sign that etcd was restored (14 A.4)',
    file: 'src/watcher/lease.ts',
    before: "    if (isBelow(facts, versionOf(held))) return { kind: 'over', end: 'restored' };\n",
    after: '',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'a Lease of an earlier watcher, below the own version',
    },
  },
  'stand-by-waits-for-a-lost-holder': {
    bug: 'who stands by waits for a holder of a history that etcd has lost (14 A.4)',
    file: 'src/watcher/lease.ts',
    before: '        if (isBelow(facts, terms.floor)) return read;\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'takes a Lease from before its own at once',
    },
  },
  'two-hundred-silent-streams': {
    bug: 'a stream may be silent two hundred times before its kind is listed (14 A.4)',
    file: 'src/watcher/list-watch.ts',
    before: 'SILENT_STREAMS_MAX = 2;',
    after: 'SILENT_STREAMS_MAX = 200;',
    killedBy: { file: 'test/unit/watcher/list-watch.test.ts', title: 'twice in a row' },
  },
  'eventual-batch-reads': {
    bug: 'items that are read together are read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/batched-reader.ts',
    before: 'Keys: [], ConsistentRead: true }',
    after: 'Keys: [], ConsistentRead: false as true }',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/batched-reader.test.ts',
      title: 'are strongly consistent',
    },
  },
  'eventual-left-over-reads': {
    bug: 'what a throttled table left over is read eventually consistent (14 A.4)',
    file: 'src/adapters/dynamodb/batched-reader.ts',
    before: '{ Keys: Keys ?? [], ConsistentRead: true }',
    after: '{ Keys: Keys ?? [], ConsistentRead: false as true }',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/batched-reader.test.ts',
      title: 'ask again for keys that a throttled table left over, as consistently',
    },
  },
  'breaker-ten-times-weaker': {
    bug: 'thirty failing runs open a breaker instead of three (14 A.4)',
    file: 'src/core/breaker.ts',
    before: 'failuresToOpen: 3,',
    after: 'failuresToOpen: 30,',
    killedBy: { file: 'test/unit/core/breaker.test.ts', title: 'opens after three failing runs' },
  },
};
