/** Planted bugs of the functions as deployed, the command line and the build (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const PROGRAM_BUGS: PlantedBugs = {
  'lagging-reads-everywhere': {
    bug: 'every function reads what may lag, not resync alone (issue 16, ADR 0034)',
    at: 'functions/composition.ts#compose',
    change: 'readsMayLag === true ? withLaggingReads(client)',
    to: 'readsMayLag !== false ? withLaggingReads(client)',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: reads what may lag where nothing is decided by it',
  },
  'lagging-tokens': {
    bug: 'resync reads the token before the one that was renewed just now (issue 16, ADR 0034)',
    at: 'functions/composition.ts#compose',
    change: 'const tokens = createDynamoCredentialStore(registryTable);',
    to: 'const tokens = createDynamoCredentialStore({ ...registryTable, client: withLaggingReads(client) });',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: reads the token that only asks, where',
  },
  'view-in-the-registry': {
    bug: 'the view is read from the table of the registry',
    at: 'functions/composition.ts#compose',
    change: 'tableName: settings.ROLLCALL_VIEW_TABLE }',
    to: 'tableName: settings.ROLLCALL_REGISTRY_TABLE }',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: reads registrations from the registry',
  },
  'queues-exchanged': {
    bug: 'hints go to the delay queue and timers to the reconcile queue',
    at: 'functions/composition.ts#compose',
    change:
      'reconcileQueueUrl: settings.ROLLCALL_RECONCILE_QUEUE_URL, delayQueueUrl: settings.ROLLCALL_DELAY_QUEUE_URL',
    to: 'reconcileQueueUrl: settings.ROLLCALL_DELAY_QUEUE_URL, delayQueueUrl: settings.ROLLCALL_RECONCILE_QUEUE_URL',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: sends a timer that is due to the reconcile queue',
  },
  'egress-unasked': {
    bug: 'the deployed connector does not ask what this deployment allows an endpoint',
    at: 'functions/composition.ts#compose',
    change: 'egress: settings.egress',
    to: "egress: { loopback: 'allowed' }",
    killedBy: 'test/unit/functions/deployed-composition.test.ts: reads no token for an endpoint',
  },
  'suffixes-not-enforced': {
    bug: 'the allow-list of hosts is read and not applied',
    at: 'functions/composition.ts#compose',
    change: 'egress: settings.egress',
    to: 'egress: { ...settings.egress, hostSuffixes: [] }',
    killedBy: 'test/security/egress.test.ts: opens loopback at stage local on this machine alone',
  },
  'lost-timers-of-nobody': {
    bug: 'a timer that was given up is read as a hint, and its key is not looked at again',
    at: 'functions/dead-letter/handler.ts#toDeadLetter',
    change: "includes('-delay-dead-letter')",
    to: "includes('-delays-dead-letter')",
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: has the key of a lost hint, and of a lost timer',
  },
  'lost-timer-forgotten': {
    bug: 'the key of a lost timer is not looked at again',
    at: 'functions/dead-letter/handler.ts#toDeadLetter',
    change: "queue === 'delay' ? hintOfTimer(body) : hintOf(body);",
    to: 'hintOf(body);',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: has the key of a lost hint, and of a lost timer',
  },
  'suffix-with-dot': {
    bug: 'a suffix that is written with its dot lets no host pass',
    at: 'functions/egress-policy.ts#egressPolicy',
    change: ".replace(/^\\./, '')",
    to: '',
    killedBy:
      'test/unit/functions/egress-policy.test.ts: takes a list of domains however it is written',
  },
  'ingest-reports-no-refusals': {
    bug: 'what an API server refuses to ingest is told of nowhere',
    at: 'functions/ingest-record.ts#ingestDependencies',
    change: 'connector: reportedConnector(connector, { log, metrics })',
    to: 'connector: [reportedConnector, connector][1] as typeof connector',
    killedBy: 'test/security/iam.test.ts: fails loudly without ',
  },
  'records-begin-too-late': {
    bug: 'ingest begins a record without time for an API server that does not answer',
    at: 'functions/ingest/handler.ts#RECORD_RESERVE_MS',
    to: '0 * TALK_MS + 1000',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: begins no second message without time for an API server that does not answer',
  },
  'ingest-acts-with-its-token': {
    bug: 'ingest opens the token that may act, not the one that may only ask (B.3)',
    at: 'functions/ingest/handler.ts#handler',
    change: "connects: 'ask'",
    to: "connects: 'act'",
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: reads the token that only asks for the snapshot that a lost message',
  },
  'no-time-to-report': {
    bug: 'a handler is aborted when its function is stopped: nothing is logged or counted',
    at: 'functions/middleware.ts#TIMEOUT_RESERVE_MS',
    to: '7',
    killedBy: 'test/unit/functions/middleware.test.ts: aborts the signal about 700 ms',
  },
  'events-are-logged': {
    bug: 'the deployed logger writes each event: secrets and payloads reach CloudWatch',
    at: 'functions/middleware.ts#deployedStack',
    change: 'logEvent: false }',
    to: 'logEvent: true }',
    killedBy: 'test/unit/functions/deployed-stack.test.ts: logs no event',
  },
  'metrics-lost-on-error': {
    bug: 'metrics of an invocation that fails are not published: HandlerFailures never rings',
    at: 'functions/middleware.ts#deployedStack',
    change: '{ after: publish, onError: publish }',
    to: '{ after: publish }',
    killedBy:
      'test/unit/functions/deployed-stack.test.ts: publishes its metrics when a handler throws',
  },
  'metrics-lost-on-success': {
    bug: 'metrics are published for invocations that fail alone',
    at: 'functions/middleware.ts#deployedStack',
    change: '{ after: publish, onError: publish }',
    to: '{ onError: publish }',
    killedBy:
      'test/unit/functions/deployed-stack.test.ts: publishes the metrics of one invocation once',
  },
  'another-namespace-in-code': {
    bug: 'the functions write their metrics to another namespace than they are told',
    at: 'functions/middleware.ts#deployedStack',
    change: "namespace: process.env['POWERTOOLS_METRICS_NAMESPACE'] ?? 'Rollcall'",
    to: "namespace: 'Rollcall'",
    killedBy:
      'test/unit/functions/deployed-stack.test.ts: publishes the metrics of one invocation once',
  },
  'lines-without-their-request': {
    bug: 'log lines do not say which invocation wrote them',
    at: 'functions/middleware.ts#deployedStack',
    change: 'injectLambdaContext(logger, { resetKeys: true, logEvent: false })',
    to: '',
    killedBy: 'test/unit/functions/deployed-stack.test.ts: logs no event',
  },
  'told-when-it-is-over': {
    bug: 'a function is told of its end only when Lambda stops it: its metrics are lost',
    at: 'functions/middleware.ts#endEarly',
    change: 'limits.remainingMs - TIMEOUT_RESERVE_MS',
    to: 'limits.remainingMs',
    killedBy: 'test/simulation/losses.test.ts: ends 700 ms before its time-out',
  },
  'reconcile-only-asks': {
    bug: 'reconcile connects with the token that only asks',
    at: 'functions/reconcile/handler.ts#handler',
    change: "connects: 'act'",
    to: "connects: 'ask'",
    killedBy:
      'test/security/iam.test.ts: does everything under its role, and uses every right and every key prefix of it',
  },
  'reconcile-reports-no-refusals': {
    bug: 'what an API server refuses to reconcile is told of nowhere',
    at: 'functions/reconcile/handler.ts#reconcileHint',
    change: 'connector: reportedConnector(connector, { log, metrics })',
    to: 'connector: [reportedConnector, connector][1] as typeof connector',
    killedBy: 'test/security/iam.test.ts: fails loudly without ',
  },
  'batch-loses-due': {
    bug: 'a timer that was folded into another hint is taken for one that still stands (protocol 12)',
    at: 'functions/reconcile/plan-turns.ts#join',
    change: 'hint: isDue ? turn.hint : next.hint',
    to: 'hint: next.hint',
    killedBy:
      'test/unit/functions/plan-turns.test.ts: say due for all when the timer of one is gone',
  },
  'batch-waits-before-its-first-turn': {
    bug: 'a batch whose process stood still before the first turn is sent back whole',
    at: 'functions/reconcile/take-batch.ts#BatchUnderWay.#begunMs',
    change: '#begunMs: number | undefined;',
    to: '#begunMs: number | undefined = 0;',
    killedBy: 'test/unit/functions/take-batch.test.ts: its time counts from the first turn',
  },
  'poison-stays-in-its-lane': {
    bug: 'a hint that fails in a lane holds the other keys of its cluster',
    at: 'functions/reconcile/take-batch.ts#BatchUnderWay.#takeOne',
    change: '.catch((error: unknown) => leaveGroup({ record, hint, error, queue, log }))',
    to: '.finally(() => void [leaveGroup, log])',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: sends a hint that fails in a lane on alone',
  },
  'batch-answers-before-it-told': {
    bug: 'Lambda freezes a process whose Events are under way (ADR 0079)',
    at: 'functions/reconcile/take-batch.ts#BatchUnderWay.end',
    change: 'await this.#aside.ended();',
    to: '',
    killedBy:
      'test/unit/functions/take-batch.test.ts: leaves the queue before what its runs still tell',
  },
  'batch-fails-one-of-a-turn': {
    bug: 'of hints that were one run, all but the first are acknowledged though it failed (L4)',
    at: 'functions/reconcile/take-batch.ts#BatchUnderWay.take',
    change: 'byId.get(itemIdentifier)?.records ?? []',
    to: 'byId.get(itemIdentifier)?.record ?? []',
    killedBy:
      'test/unit/functions/take-batch.test.ts: fails all records of a turn whose run throws',
  },
  'timers-wait-for-the-slowest': {
    bug: 'a run that hangs holds up the timers, and so the records, of all runs beside it (L3)',
    at: 'functions/reconcile/timers-together.ts#COMPANY_WAIT_MS',
    to: '50_000',
    killedBy:
      'test/unit/functions/timers-together.test.ts: wait for a slow run 50 ms, and each time anew (L3)',
  },
  'failures-by-wrong-index': {
    bug: 'beside an unreadable timer another one than the failed one comes again',
    at: 'functions/requeue/handler.ts#handler',
    change: 'const batchItemFailures = readable',
    to: 'const batchItemFailures = event.Records',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: has the timer come again that could not be sent on',
  },
  'resync-acts': {
    bug: 'resync, which only asks, reads the token that acts',
    at: 'functions/resync/handler.ts#handler',
    change: "connects: 'ask'",
    to: "connects: 'act'",
    killedBy: 'test/unit/functions/deployed-composition.test.ts: reads the token that only asks',
  },
  'resync-reports-no-refusals': {
    bug: 'no metric counts what resync is refused, so its alarm stays silent',
    at: 'functions/resync/handler.ts#handler',
    change: 'connector: reportedConnector(connector, { log, metrics })',
    to: 'connector: [reportedConnector, connector][1] as typeof connector',
    killedBy: 'test/security/iam.test.ts: fails loudly without ',
  },
  'resync-deadline-beyond': {
    bug: 'resync walks until it is stopped: what it did is not recorded',
    at: 'functions/resync/handler.ts#handler',
    change: 'remainingMs() - WALK_RESERVE_MS',
    to: 'remainingMs() + WALK_RESERVE_MS',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: walks no longer than it has time to write down what it did',
  },
  'bundles-errors-of-no-class': {
    bug: 'in a bundle an error of the SDK is no instance of its class: a write that loses its condition throws',
    at: 'scripts/build/function-plugins.ts#PLAIN_ERROR_CLASS',
    change: 'Object.setPrototypeOf(this, new.target.prototype); }',
    to: '}',
    killedBy: 'test/unit/scripts/function-plugins.test.ts: are what they were, in fewer bytes',
  },
  'policies-need-require': {
    bug: 'the bundle of reconcile holds the YAML parser that calls require, and never starts (17.2)',
    at: 'scripts/build/function-plugins.ts#REPLACEMENTS',
    change: 'module: /^yaml$/',
    to: 'module: /^yaml-not$/',
    killedBy:
      'test/unit/scripts/function-plugins.test.ts: reads policies, good and bad, as the sources do',
  },
  'removed-clusters-keep-tokens': {
    bug: 'the sealed tokens of a removed cluster stay',
    at: 'src/cli/cluster/change/remove-cluster.ts#removeClusterCommand',
    change: 'await stack.credentials.removeTokens(id);',
    to: '',
    killedBy:
      'test/unit/cli/cluster/change/remove-cluster.test.ts: forgets an observed cluster: registration, token, view; and says what is left',
  },
  'a-freeze-waits-for-sts': {
    bug: 'an order is given only once STS has answered, however long that takes',
    at: 'src/cli/command-line/caller.ts#ANSWER_MS_MAX',
    to: '2_000_000',
    killedBy:
      'test/unit/cli/command-line/caller.test.ts: is said to be unknown, and the order is given, where AWS refuses or does not answer',
  },
  'network-is-a-bug': {
    bug: 'an address that answers on neither IPv4 nor IPv6 is told as a bug of rollcall',
    at: 'src/cli/command-line/explain-error.ts#chainOf',
    change: 'current = current instanceof AggregateError ? current.errors[0] : current.cause;',
    to: 'current = current.cause;',
    killedBy: 'test/unit/cli/command-line/explain-aws-error.test.ts: knows a network by its code',
  },
  'start-goes-by-the-umask': {
    bug: 'files of npm start are made with the rights that the umask leaves (40.6)',
    at: 'src/cli/process/working-directory.ts#openWorkingDirectory',
    change: 'process.umask(OWNER_MASK);',
    to: '',
    killedBy: 'test/security/second-user.test.ts: shows another user of the machine no file',
  },
  'stop-all-leaves-schedules': {
    bug: 'what has a schedule writes into a registry that is restored',
    at: 'src/cli/stack/stop-and-resume.ts#ALL',
    to: '[...MAPPED_FUNCTIONS]',
    killedBy: 'test/unit/cli/stack/stop-and-resume.test.ts: stop every function that there is',
  },
  'renewal-tried-once': {
    bug: 'a credential whose renewal failed once is never renewed again',
    at: 'src/engine/credential-renewal.ts#keepFresh',
    change: 'schedule(clock.nowMs() + RETRY_MS);',
    to: '',
    killedBy: 'test/unit/engine/credential-renewal.test.ts: is asked for again when that failed',
  },
  'refused-engine-runs-on': {
    bug: 'queues and tables of an engine that was refused run on',
    at: 'src/engine/engine.ts#startEngine',
    change: 'await stop();',
    to: '',
    killedBy:
      'test/integration/start/start.test.ts: ends with a word when its cluster cannot be reached',
  },
};
