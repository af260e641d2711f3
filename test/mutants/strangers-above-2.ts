/** Bugs of functions, the engine, infra and the command line that a second stranger to the tests chose (strangers-2.ts). */
import type { PlantedBug } from './planted-bug.ts';

/** The rows. */
export const MORE_STRANGERS_ABOVE: Readonly<Record<string, PlantedBug>> = {
  'group-goes-on-after-failure': {
    bug: 'after a failure the rest of its message group is handled out of order (14)',
    file: 'functions/records.ts',
    before: 'skipGroupOnError: true',
    after: 'skipGroupOnError: false',
    killedBy: {
      file: 'test/unit/functions/middleware.test.ts',
      title: 'stops a group at its first failure',
    },
  },
  'no-time-for-metrics': {
    bug: 'a function that runs out of time has no time to say so (14)',
    file: 'functions/middleware.ts',
    before: 'TIMEOUT_RESERVE_MS = 700;',
    after: 'TIMEOUT_RESERVE_MS = 7;',
    killedBy: {
      file: 'test/unit/functions/middleware.test.ts',
      title: 'aborts the signal about 700 ms before the function is stopped',
    },
  },
  'suffixes-not-enforced': {
    bug: 'the allow-list of hosts is read and not applied (14)',
    file: 'functions/composition.ts',
    before: '      egress: settings.egress,\n',
    after: '      egress: { ...settings.egress, hostSuffixes: [] },\n',
    killedBy: {
      file: 'test/security/egress.test.ts',
      title: 'opens loopback at stage local on this machine alone',
    },
  },
  'failures-by-wrong-index': {
    bug: 'beside an unreadable timer another one than the failed one comes again (14)',
    file: 'functions/requeue/handler.ts',
    before: 'const batchItemFailures = readable\n',
    after: 'const batchItemFailures = event.Records\n',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'has the timer come again that could not be sent on',
    },
  },
  'lost-timer-forgotten': {
    bug: 'the key of a lost timer is not looked at again (14)',
    file: 'functions/dead-letter/handler.ts',
    before: "queue === 'delay' ? hintOfTimer(body) : hintOf(body);",
    after: 'hintOf(body);',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'has the key of a lost hint, and of a lost timer',
    },
  },
  'lane-left-once': {
    bug: 'a key that leaves its lane twice within five minutes is swallowed by deduplication (14)',
    file: 'functions/reconcile/take-batch.ts',
    before: '`alone/${messageId}`',
    after: "'alone/'",
    killedBy: {
      file: 'test/unit/functions/leave-lane.test.ts',
      title: 'leaves its lane: poison holds no other key of its cluster (L4)',
    },
  },
  'suffix-with-dot': {
    bug: 'a suffix that is written with its dot lets no host pass (14)',
    file: 'functions/egress-policy.ts',
    before: ".replace(/^\\./, '')",
    after: '',
    killedBy: {
      file: 'test/unit/functions/egress-policy.test.ts',
      title: 'takes a list of domains however it is written',
    },
  },
  'resync-deadline-beyond': {
    bug: 'resync walks until it is stopped: what it did is not recorded (14)',
    file: 'functions/resync/handler.ts',
    before: 'remainingMs() - WALK_RESERVE_MS',
    after: 'remainingMs() + WALK_RESERVE_MS',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'walks no longer than it has time to write down what it did',
    },
  },
  'refused-engine-runs-on': {
    bug: 'queues and tables of an engine that was refused run on (14)',
    file: 'src/engine/engine.ts',
    before: '    await stop();\n    throw error;',
    after: '    throw error;',
    killedBy: {
      file: 'test/integration/start/start.test.ts',
      title: 'ends with a word when its cluster cannot be reached',
    },
  },
  'renewal-tried-once': {
    bug: 'a credential whose renewal failed once is never renewed again (14)',
    file: 'src/engine/credential-renewal.ts',
    before: '      schedule(clock.nowMs() + RETRY_MS);\n',
    after: '',
    killedBy: {
      file: 'test/unit/engine/credential-renewal.test.ts',
      title: 'is asked for again when that failed',
    },
  },
  'ask-opens-act': {
    bug: 'the key lets functions that ask open tokens that act (14)',
    file: 'infra/keys.yml',
    before: '              StringEquals:\n                kms:EncryptionContext:purpose: ask\n',
    after: '',
    killedBy: { file: 'test/security/template.test.ts', title: 'the packaged template (issue 7)' },
  },
  'interfaces-for-code': {
    bug: 'network interfaces are denied to Lambda and given to the code (14)',
    file: 'infra/roles.yml',
    before: "                    lambda:SourceFunctionArn: 'false'",
    after: "                    lambda:SourceFunctionArn: 'true'",
    killedBy: { file: 'test/security/template.test.ts', title: 'the packaged template (issue 7)' },
  },
  'letters-expire-early': {
    bug: 'dead hints expire with the age of their queue (14)',
    file: 'infra/queues.yml',
    before:
      'QueueName: rollcall-${sls:stage}-reconcile-dead-letter.fifo\n      FifoQueue: true\n      DeduplicationScope: messageGroup\n      FifoThroughputLimit: perMessageGroupId\n      SqsManagedSseEnabled: true\n      VisibilityTimeout: 60\n      MessageRetentionPeriod: 1209600',
    after:
      'QueueName: rollcall-${sls:stage}-reconcile-dead-letter.fifo\n      FifoQueue: true\n      DeduplicationScope: messageGroup\n      FifoThroughputLimit: perMessageGroupId\n      SqsManagedSseEnabled: true\n      VisibilityTimeout: 60\n      MessageRetentionPeriod: 345600',
    killedBy: { file: 'test/security/template.test.ts', title: 'the packaged template (issue 7)' },
  },
  'hops-stopped': {
    bug: 'Lambda takes hops for a runaway loop and stops them after sixteen (14)',
    file: 'serverless.yml',
    before:
      '    # Longer delays hop through its own queue: 6 h are 24 hops. See reconcile.\n    recursiveLoop: Allow\n',
    after: '',
    killedBy: { file: 'test/security/template.test.ts', title: 'the packaged template (issue 7)' },
  },
  'suffixes-not-told': {
    bug: 'the allow-list of hosts does not reach the functions (14)',
    file: 'serverless.yml',
    before: '    ROLLCALL_ENDPOINT_SUFFIXES: ${param:endpointSuffixes}\n',
    after: '',
    killedBy: {
      file: 'test/security/template.test.ts',
      title: 'carries its parameters to where they count',
    },
  },
  'breaker-alarm-of-resync': {
    bug: 'the alarm on silent API servers looks at an outcome that is never counted (14)',
    file: 'infra/alarms/clusters.yml',
    before: 'Value: unreachable\n',
    after: 'Value: silent\n',
    killedBy: { file: 'test/unit/infra/alarms.test.ts', title: 'rings in its stated time' },
  },
  'letters-of-live-queue': {
    bug: 'waiting dead letters of credentials ring nothing (14)',
    file: 'infra/alarms/queues.yml',
    before: 'Value: !GetAtt CredentialsDeadLetterQueue.QueueName',
    after: 'Value: !GetAtt CredentialsQueue.QueueName',
    killedBy: { file: 'test/unit/infra/alarms.test.ts', title: 'rings in its stated time' },
  },
  'errors-of-requeue': {
    bug: 'errors of requeue ring nothing, those of reconcile count twice (14)',
    file: 'infra/alarms/functions.yml',
    before:
      'MetricName: Errors\n              Dimensions:\n                - Name: FunctionName\n                  Value: !Ref RequeueLambdaFunction',
    after:
      'MetricName: Errors\n              Dimensions:\n                - Name: FunctionName\n                  Value: !Ref ReconcileLambdaFunction',
    killedBy: { file: 'test/unit/infra/alarms.test.ts', title: 'rings in its stated time' },
  },
  'grace-below-release': {
    bug: 'the watcher is killed before it has given its Lease back (14)',
    file: 'infra/watcher/deployment.yaml',
    before: 'terminationGracePeriodSeconds: 15',
    after: 'terminationGracePeriodSeconds: 5',
    killedBy: {
      file: 'test/unit/composition/dependent-bounds.test.ts',
      title: 'stops a watcher no sooner than it has given its Lease back',
    },
  },
  'mode-judged-before-edit': {
    bug: 'takeover is judged by the credential before the change (14)',
    file: 'src/cli/cluster/change/set-cluster.ts',
    before: 'refuseMode(edited, wanted);',
    after: 'refuseMode(before, wanted);',
    killedBy: {
      file: 'test/unit/cli/cluster/change/set-cluster.test.ts',
      title: 'judges takeover by the credential that the command gives, or takes away',
    },
  },
  'rival-not-cleared': {
    bug: 'after a rival, entering takeover anew says that there is nothing to do (14)',
    file: 'src/cli/cluster/change/change-mode.ts',
    before: 'registration.mode === mode && registration.rival === undefined;',
    after: 'registration.mode === mode;',
    killedBy: {
      file: 'test/unit/cli/cluster/change/set-cluster.test.ts',
      title: 'enters takeover anew after a rival, and forgets it',
    },
  },
  'authority-of-other-address': {
    bug: 'the authority of another address is registered at a reset (14)',
    file: 'src/cli/cluster/change/reset-cluster.ts',
    before: 'server === before.server && caPem !== undefined;',
    after: 'caPem !== undefined;',
    killedBy: {
      file: 'test/unit/cli/cluster/change/reset-cluster.test.ts',
      title: 'takes the new certificate authority where the kubeconfig names the same endpoint',
    },
  },
  'reserved-not-told': {
    bug: 'places that other functions reserved are not missed (14)',
    file: 'src/app/checks/judge-stack.ts',
    before: 'if (unreserved >= CONCURRENCY_NEEDED) return undefined;',
    after: 'if (total >= CONCURRENCY_NEEDED) return undefined;',
    killedBy: {
      file: 'test/unit/app/checks/judge-stack.test.ts',
      title: 'warns of the quota of a new account, and of places that others reserved',
    },
  },
  'apply-without-force': {
    bug: 'manifests that a person applied before are a conflict (14)',
    file: 'src/cli/cluster/manifests/apply-manifests.ts',
    before: '&force=true',
    after: '',
    killedBy: {
      file: 'test/unit/cli/cluster/manifests/apply-manifests.test.ts',
      title: 'applies on the server, by force',
    },
  },
  'dry-run-writes-manifests': {
    bug: 'a dry run writes manifests (14)',
    file: 'src/cli/cluster/import/import-clusters.ts',
    before: 'if (options.manifestsDir !== undefined && options.dryRun !== true) {',
    after: 'if (options.manifestsDir !== undefined) {',
    killedBy: {
      file: 'test/unit/cli/cluster/import/import-clusters.test.ts',
      title: 'and neither in a plan or a dry run',
    },
  },
  'network-is-a-bug': {
    bug: 'an address that answers on neither IPv4 nor IPv6 is told as a bug of rollcall (14)',
    file: 'src/cli/command-line/explain-error.ts',
    before: 'current = current instanceof AggregateError ? current.errors[0] : current.cause;',
    after: 'current = current.cause;',
    killedBy: {
      file: 'test/unit/cli/command-line/explain-aws-error.test.ts',
      title: 'knows a network by its code',
    },
  },
};
