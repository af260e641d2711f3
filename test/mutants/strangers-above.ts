/** Bugs of app, functions, infra and the command line that were chosen by a stranger to the tests (strangers.ts). */
import type { PlantedBug } from './planted-bug.ts';

/** The alarm on the schedule of resync, up to what silence means. */
const RESYNC_SILENCE = [
  'Value: !Ref ResyncLambdaFunction',
  '      Statistic: Sum',
  '      Period: 60',
  '      EvaluationPeriods: 5',
  '      Threshold: 1',
  '      ComparisonOperator: LessThanThreshold',
  '      TreatMissingData: breaching',
].join('\n');

/** The rows. */
export const STRANGERS_ABOVE: Readonly<Record<string, PlantedBug>> = {
  'merged-outcomes-are-not-awaited': {
    bug: 'a run ends before outcomes whose write was lost are merged into the stored state (14)',
    file: 'src/app/reconcile/requeue/finish.ts',
    before: 'await mergeOutcomes(result, { context, input });',
    after: 'void mergeOutcomes(result, { context, input });',
    killedBy: {
      file: 'test/unit/app/reconcile/lost-outcomes.test.ts',
      title: 'are merged into the stored state before the run ends',
    },
  },
  'warm-sets-of-any-cluster': {
    bug: 'a warm set of one cluster answers for another (14)',
    file: 'src/app/reconcile/process/process-cache.ts',
    before: '`${ref.clusterUid}|${ref.set}|${sliceCount}`',
    after: '`${ref.set}|${sliceCount}`',
    killedBy: {
      file: 'test/unit/app/reconcile/process/process-cache.test.ts',
      title: 'has keys that begin with the cluster',
    },
  },
  'due-timers-hop': {
    bug: 'a timer hops until it is overdue by the tolerance (14)',
    file: 'src/app/requeue/requeue.ts',
    before: 'timer.dueAtMs - DUE_TOLERANCE_MS',
    after: 'timer.dueAtMs + DUE_TOLERANCE_MS',
    killedBy: {
      file: 'test/unit/app/requeue/requeue.test.ts',
      title: 'forwards what is due, with two seconds of grace, as due',
    },
  },
  'lost-announcement-is-outdated': {
    bug: 'a lost announcement on which the view waits counts as outdated (14)',
    file: 'src/app/dead-letter/dead-letter.ts',
    before: 'seq < announcedSeq;',
    after: 'seq <= announcedSeq;',
    killedBy: {
      file: 'test/unit/app/ingest/dead-letter.test.ts',
      title: 'protocol 18: of the announcement itself makes the view incomplete',
    },
  },
  'lost-hints-of-a-former-cluster': {
    bug: 'the lost hint of a rebuilt cluster is looked at again (14)',
    file: 'src/app/dead-letter/dead-letter.ts',
    before: 'if (registration?.clusterUid !== clusterUid) return',
    after: 'if (registration === undefined) return',
    killedBy: {
      file: 'test/unit/app/ingest/dead-letter.test.ts',
      title: 'A.4: nothing is sent for a cluster that is gone, or was made again (row 90)',
    },
  },
  'missing-tokens-are-not-told': {
    bug: 'a cluster without a token is told of nowhere (14)',
    file: 'src/app/isolation/reported-access.ts',
    before: '        reportToken(registration, connection.refusal, { log, metrics });\n',
    after: '        void reportToken;\n',
    killedBy: {
      file: 'test/unit/app/isolation/reported-access.test.ts',
      title: 'says what is the matter with a bound token, in one line and one metric',
    },
  },
  'probes-of-doubt-stay': {
    bug: 'the probe stays in a cluster where it could not be read (14)',
    file: 'src/app/takeover/takeover-probe.ts',
    before: "if (result?.kind !== 'absent') {",
    after: "if (result?.kind === 'present') {",
    killedBy: {
      file: 'test/unit/app/takeover/takeover-probe.test.ts',
      title: 'knows nothing when the probe could not be created, read or kept',
    },
  },
  'probe-tells-a-later-opening': {
    bug: 'the answer of a probe counts for an opening that came after it (14)',
    file: 'src/app/isolation/cluster-gate.ts',
    before: '        if (this.#isProbe) return;\n',
    after: '',
    killedBy: {
      file: 'test/unit/app/isolation/cluster-gate.test.ts',
      title: 'the answer of a probe counts for the opening that it was the probe of',
    },
  },
  'questions-are-left-behind': {
    bug: 'resync ends while API servers are being asked (14)',
    file: 'src/app/resync/resync.ts',
    before: '  await tally.asking.finish();\n',
    after: '',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'reads the token that only asks, where it only asks (B.3)',
    },
  },
  'no-due-time-is-overdue': {
    bug: 'keys without a due time are hinted as overdue every quarter of an hour (14)',
    file: 'src/app/resync/look-at-cluster.ts',
    before: '(states[index]?.dueAtMs ?? Infinity)',
    after: '(states[index]?.dueAtMs ?? 0)',
    killedBy: {
      file: 'test/unit/app/resync/resync.test.ts',
      title: 'F11: a tick that comes late, or not at all, costs a hint its hour, never its turn',
    },
  },
  'open-breakers-are-asked': {
    bug: 'resync asks an API server whose breaker is open (14)',
    file: 'src/app/resync/request-snapshot.ts',
    before: '  if (isOpen(meta.breaker, nowMs)) return;\n',
    after: '  void isOpen;\n',
    killedBy: {
      file: 'test/unit/app/resync/resync.test.ts',
      title: 'asks no API server whose breaker is open',
    },
  },
  'gone-timers-are-not-sent-again': {
    bug: 'the timer that caused a run is not sent once more, that of others is (14)',
    file: 'src/app/reconcile/requeue/timers.ts',
    before: "context.hint.reason !== 'due' ||",
    after: "context.hint.reason === 'due' ||",
    killedBy: {
      file: 'test/unit/app/reconcile/memo-rules.test.ts',
      title:
        'is sent again by a timer that comes within ten seconds of it and is skipped, under another id',
    },
  },
  'reconcile-only-asks': {
    bug: 'reconcile connects with the token that only asks (14)',
    file: 'functions/reconcile/handler.ts',
    before: "connects: 'act',",
    after: "connects: 'ask',",
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'does everything under its role, and uses every right and every key prefix of it',
    },
  },
  'records-begin-too-late': {
    bug: 'ingest begins a record without time for an API server that does not answer (14)',
    file: 'functions/ingest/handler.ts',
    before: 'const RECORD_RESERVE_MS = TALK_MS + 1000;',
    after: 'const RECORD_RESERVE_MS = 0 * TALK_MS + 1000;',
    killedBy: {
      file: 'test/unit/functions/deployed-composition.test.ts',
      title: 'begins no second message without time for an API server that does not answer',
    },
  },
  'reconcile-reports-no-refusals': {
    bug: 'what an API server refuses to reconcile is told of nowhere (14)',
    file: 'functions/reconcile/handler.ts',
    before: 'connector: reportedConnector(connector, { log, metrics }),',
    after: 'connector: [reportedConnector, connector][1] as typeof connector,',
    killedBy: { file: 'test/security/iam.test.ts', title: 'fails loudly without ' },
  },
  'ingest-reports-no-refusals': {
    bug: 'what an API server refuses to ingest is told of nowhere (14)',
    file: 'functions/ingest-dependencies.ts',
    before: 'connector: reportedConnector(connector, { log, metrics }),',
    after: 'connector: [reportedConnector, connector][1] as typeof connector,',
    killedBy: { file: 'test/security/iam.test.ts', title: 'fails loudly without ' },
  },
  'resync-reports-no-refusals': {
    bug: 'what an API server refuses to resync is told of nowhere (14)',
    file: 'functions/resync/handler.ts',
    before: 'connector: reportedConnector(connector, { log, metrics }),',
    after: 'connector: [reportedConnector, connector][1] as typeof connector,',
    killedBy: { file: 'test/security/iam.test.ts', title: 'fails loudly without ' },
  },
  'dead-letters-go-back-at-once': {
    bug: 'dead-letter may send to the queue that gave a hint up (14)',
    file: 'infra/roles.yml',
    before:
      'Sid: LookAgainLater\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: !GetAtt DelayQueue.Arn',
    after:
      'Sid: LookAgainLater\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: [!GetAtt DelayQueue.Arn, !GetAtt ReconcileQueue.Arn]',
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'does everything under its role, and uses every right and every key prefix of it',
    },
  },
  'credential-opens-no-token': {
    bug: 'credential may not open the tokens that act (14)',
    file: 'infra/roles.yml',
    before: '              - *openToken\n              - *openRequestToken\n',
    after: '              - *openRequestToken\n',
    killedBy: {
      file: 'test/security/template.test.ts',
      title: 'the key names exactly the roles that may open with it',
    },
  },
  'timers-die-as-credentials': {
    bug: 'timers that are given up go to the dead letters of credentials (14)',
    file: 'infra/queues.yml',
    before: 'deadLetterTargetArn: !GetAtt DelayDeadLetterQueue.Arn',
    after: 'deadLetterTargetArn: !GetAtt CredentialsDeadLetterQueue.Arn',
    killedBy: {
      file: 'test/security/template.test.ts',
      title:
        'every work queue has a dead-letter queue of its kind, which keeps longest and is polled',
    },
  },
  'silence-of-resync-is-fine': {
    bug: 'a resync that is never called alarms nobody (14)',
    file: 'infra/alarms/functions.yml',
    before: RESYNC_SILENCE,
    after: RESYNC_SILENCE.replace('breaching', 'notBreaching'),
    killedBy: {
      file: 'test/security/template.test.ts',
      title: 'resync and fleet are called as often as the alarms about their stop count',
    },
  },
  'stuck-timers-look-elsewhere': {
    bug: 'the alarm on stuck timers looks at another queue (14)',
    file: 'infra/alarms/queues.yml',
    before:
      'Dimensions: &delayQueue\n                - Name: QueueName\n                  Value: !GetAtt DelayQueue.QueueName',
    after:
      'Dimensions: &delayQueue\n                - Name: QueueName\n                  Value: !GetAtt ReconcileQueue.QueueName',
    killedBy: {
      file: 'test/security/template.test.ts',
      title:
        'a queue whose every delivery fails calls somebody, and a busy or quiet one nobody (F9)',
    },
  },
  'resync-is-switched-off': {
    bug: 'the schedule of resync is switched off (14)',
    file: 'serverless.yml',
    before: 'resync-walk.ts).\n          rate: rate(1 minute)\n          enabled: true',
    after: 'resync-walk.ts).\n          rate: rate(1 minute)\n          enabled: false',
    killedBy: {
      file: 'test/security/template.test.ts',
      title:
        'resync and fleet are called as often as the alarms about their stop count, and end before their next turn',
    },
  },
  'requeue-fails-whole-batches': {
    bug: 'Lambda does not read which timers of a batch failed (14)',
    file: 'serverless.yml',
    before:
      '          maximumConcurrency: 10\n          functionResponseType: ReportBatchItemFailures\n',
    after: '          maximumConcurrency: 10\n',
    killedBy: {
      file: 'test/security/template.test.ts',
      title:
        'every mapping reports failures one by one and has a cap, all within what stack check asks for; reconcile takes ten hints at a time',
    },
  },
  'roles-of-any-stage-send': {
    bug: 'roles of every stage of the organisation may send (14)',
    file: 'infra/policies.yml',
    before: 'aws:PrincipalArn: arn:*:iam::*:role/rollcall/${sls:stage}/*',
    after: 'aws:PrincipalArn: arn:*:iam::*:role/rollcall/*',
    killedBy: {
      file: 'test/security/template.test.ts',
      title:
        'nobody from outside may do anything but send, from roles of the organisation under the path',
    },
  },
  'failures-without-json': {
    bug: 'a command that fails prints no document with --json (14)',
    file: 'src/cli/command-line/run-program.ts',
    before: '    if (isJson) options.writeOut(asJson(document));\n    return exitCode;',
    after: '    void [isJson, document];\n    return exitCode;',
    killedBy: {
      file: 'test/unit/cli/command-line/run-program.test.ts',
      title: 'says what, why and what next of a failure, and gives it as a document too',
    },
  },
  'results-exit-zero': {
    bug: 'a command that says how it ended exits with 0 all the same (14)',
    file: 'src/cli/command-line/run-program.ts',
    before: 'return result.exitCode ?? EXIT.ok;',
    after: 'return EXIT.ok;',
    killedBy: {
      file: 'test/unit/cli/checks/doctor.test.ts',
      title: 'fails for a cluster that is not there, and still looks at the stack',
    },
  },
  'stacks-stay-open': {
    bug: 'the stack that a command opened is not closed (14)',
    file: 'src/cli/command-line/run-program.ts',
    before: "if (opened.status === 'fulfilled') opened.value.close();",
    after: "if (opened.status === 'rejected') continue;",
    killedBy: {
      file: 'test/unit/cli/command-line/run-program.test.ts',
      title: 'opens the stack once and closes it, whatever happens',
    },
  },
  'still-managed-is-a-failure': {
    bug: 'the refusal of a cluster that is still managed exits as a failure (14)',
    file: 'src/cli/command-line/explain-error.ts',
    before: "  'still-managed',\n",
    after: '',
    killedBy: {
      file: 'test/unit/cli/command-line/explain-error.test.ts',
      title: 'what the engine refuses for safety leaves with 3',
    },
  },
  'removed-clusters-keep-tokens': {
    bug: 'the sealed tokens of a removed cluster stay (14)',
    file: 'src/cli/cluster/change/remove-cluster.ts',
    before: '    await stack.credentials.removeTokens(id);\n    const daemonSets',
    after: '    const daemonSets',
    killedBy: {
      file: 'test/unit/cli/cluster/change/remove-cluster.test.ts',
      title: 'forgets an observed cluster: registration, token, view; and says what is left',
    },
  },
  'reset-clusters-count-as-rebuilt': {
    bug: 'a cluster that was registered anew still counts as rebuilt (14)',
    file: 'src/cli/cluster/show/cluster-summary.ts',
    before: 'detail !== clusterUid &&',
    after: "clusterUid !== '' &&",
    killedBy: {
      file: 'test/unit/cli/cluster/show/list-clusters.test.ts',
      title: 'says that a cluster was rebuilt, by what its watcher was refused for (row 90)',
    },
  },
};
