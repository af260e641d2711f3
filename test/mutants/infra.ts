/** Planted bugs of the template, its alarms and rights, and the manifests (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const INFRA_BUGS: PlantedBugs = {
  'red-night-leaves-nothing': {
    bug: 'the plans that broke at night are kept nowhere',
    at: '.ci/nightly',
    change: '--seeds 5000 --keep-to "$kept"',
    to: '--seeds 5000 --no-keep',
    killedBy: 'test/unit/docs/testing.test.ts: the night plays fresh seeds',
  },
  'the-lease-takes-owners': {
    bug: 'a stolen credential has the watcher’s Lease collected by an owner (security, beside pods)',
    at: 'infra/admission/policy.yaml#expression',
    change:
      "oldObject.metadata.?ownerReferences.orValue([]) &&\n        object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) &&\n        variables.newAnnotations.all(k, k == 'rollcall.dev/snapshot-requested'",
    to: "object.metadata.?ownerReferences.orValue([]) &&\n        object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) &&\n        variables.newAnnotations.all(k, k == 'rollcall.dev/snapshot-requested'",
    killedBy:
      'test/conformance/rights/other-objects.test.ts: lets a snapshot be asked for, and nothing else be changed',
  },
  'takeover-lets-any-be-created': {
    bug: 'in takeover whoever may create a DaemonSet of a fleet may create any in its namespace',
    at: 'infra/admission/policy.yaml#expression',
    change: ".check('roll-out').allowed())",
    to: ".check('create').allowed())",
    killedBy: 'test/conformance/rights/fleets.test.ts: creates no other by POST',
  },
  'alarm-at-the-first-slow-minute': {
    bug: 'a single slow minute of a deployment calls somebody',
    at: 'infra/alarms/clusters.yml#DatapointsToAlarm',
    to: '1',
    killedBy:
      'test/unit/infra/alarms.test.ts: ring for nobody on a day with a deployment, a restored cluster and slow minutes',
  },
  'no-data-is-an-alarm': {
    bug: 'the alarm on clusters that were never heard of rings where there are none',
    at: 'infra/alarms/clusters.yml#NeverHeardClustersAlarm > TreatMissingData',
    to: 'breaching',
    killedBy:
      'test/unit/infra/alarms.test.ts: ring for nobody on a day with a deployment, a restored cluster and slow minutes',
  },
  'alarm-after-an-hour': {
    bug: 'the alarm on views that differ from their cluster sums up hours',
    at: 'infra/alarms/clusters.yml#SetHashAlarm > Period',
    to: '3600',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'silent-alarm-of-the-quietest': {
    bug: 'the alarm on silent clusters looks at the smallest count of a minute',
    at: 'infra/alarms/clusters.yml#SilentClustersAlarm > Statistic',
    to: 'Minimum',
    killedBy:
      'test/security/template.test.ts: each alarm rings at what is published, in time, and at no less',
  },
  'lag-alarm-blown-up': {
    bug: 'the alarm on lag rings after an hour instead of a minute',
    at: 'infra/alarms/clusters.yml#Threshold',
    change: 'Threshold: 60000',
    to: 'Threshold: 3600000',
    killedBy:
      'test/security/template.test.ts: each alarm rings at what is published, in time, and at no less',
  },
  'share-alarm-blown-up': {
    bug: 'the alarm on the share of clusters in trouble wants all of them',
    at: 'infra/alarms/clusters.yml#Threshold',
    change: 'Threshold: 2',
    to: 'Threshold: 100',
    killedBy:
      'test/security/template.test.ts: each alarm rings at what is published, in time, and at no less',
  },
  'alarm-of-another-service': {
    bug: 'an alarm watches a dimension that no function writes',
    at: 'infra/alarms/clusters.yml#Value',
    change: 'Value: resync',
    to: 'Value: resyncs',
    killedBy:
      'test/security/template.test.ts: alarms and the dashboard look where the functions write',
  },
  'alarm-on-another-service': {
    bug: 'the alarms on clusters look at a function that never counts them',
    at: 'infra/alarms/clusters.yml#Value',
    change: 'Value: resync',
    to: 'Value: reconcile',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'breaker-alarm-of-resync': {
    bug: 'the alarm on silent API servers looks at an outcome that is never counted',
    at: 'infra/alarms/clusters.yml#Value',
    change: 'Value: unreachable',
    to: 'Value: silent',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time',
  },
  'alarm-with-a-dimension-too-many': {
    bug: 'the alarm on failing messages asks for an outcome, which that metric has not',
    at: 'infra/alarms/functions.yml#Expression',
    change: 'FROM SCHEMA("Rollcall/${sls:stage}", service)',
    to: 'FROM SCHEMA("Rollcall/${sls:stage}", outcome, service)',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'errors-of-requeue': {
    bug: 'errors of requeue ring nothing, those of reconcile count twice',
    at: 'infra/alarms/functions.yml#FunctionErrorsAlarm > Value',
    change: 'Value: !Ref RequeueLambdaFunction',
    to: 'Value: !Ref ReconcileLambdaFunction',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time',
  },
  'silence-of-resync-is-fine': {
    bug: 'a resync that is never called alarms nobody',
    at: 'infra/alarms/functions.yml#ResyncStoppedAlarm > TreatMissingData',
    to: 'notBreaching',
    killedBy:
      'test/security/template.test.ts: resync and fleet are called as often as the alarms about their stop count',
  },
  'no-data-is-no-alarm': {
    bug: 'a schedule of resync that stopped leaves no data, and nobody is called',
    at: 'infra/alarms/functions.yml#ResyncStoppedAlarm > TreatMissingData',
    to: 'notBreaching',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'age-alarm-blown-up': {
    bug: 'the alarm on the age of events rings when the clusters are long silent',
    at: 'infra/alarms/queues.yml#EventsAgeAlarm > Threshold',
    to: '12000',
    killedBy:
      'test/security/template.test.ts: each alarm rings at what is published, in time, and at no less',
  },
  'stuck-timers-look-elsewhere': {
    bug: 'the alarm on stuck timers looks at another queue',
    at: 'infra/alarms/queues.yml#Metric > Value',
    change: 'Value: !GetAtt DelayQueue.QueueName',
    to: 'Value: !GetAtt ReconcileQueue.QueueName',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'alarm-on-another-queue': {
    bug: 'one of the dead-letter queues that are looked at is a work queue',
    at: 'infra/alarms/queues.yml#Value',
    change: 'Value: !GetAtt DelayDeadLetterQueue.QueueName',
    to: 'Value: !GetAtt CredentialsQueue.QueueName',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time, whichever it is about',
  },
  'letters-of-live-queue': {
    bug: 'waiting dead letters of credentials ring nothing',
    at: 'infra/alarms/queues.yml#Value',
    change: 'Value: !GetAtt CredentialsDeadLetterQueue.QueueName',
    to: 'Value: !GetAtt CredentialsQueue.QueueName',
    killedBy: 'test/unit/infra/alarms.test.ts: rings in its stated time',
  },
  'copilot-lets-any-be-created': {
    bug: 'in copilot whoever may create a DaemonSet of a fleet may create any in its namespace',
    at: 'infra/copilot/admission.yaml#expression',
    change: ".check('roll-out').allowed())",
    to: ".check('create').allowed())",
    killedBy: 'test/conformance/rights/fleets.test.ts: and for nothing besides',
  },
  'ask-opens-act': {
    bug: 'the key lets functions that ask open tokens that act',
    at: 'infra/keys.yml#Condition',
    change: 'StringEquals:\n                kms:EncryptionContext:purpose: ask',
    to: '',
    killedBy: 'test/security/template.test.ts: the packaged template (issue 7)',
  },
  'told-others-may-write': {
    bug: 'whoever may write FleetDaemonSets may say that a fleet is ready (18.7)',
    at: 'infra/mirror/admission.yaml#expression',
    change: "expression: request.?subResource.orValue('') == ''",
    to: "expression: 'true'",
    killedBy:
      'test/conformance/fleet-mirror/fleet-mirror.test.ts: lets nobody else write a spec or a status',
  },
  'told-stale-status-is-healthy': {
    bug: 'Argo CD shows the status of an older release as healthy (Argo CD #29410)',
    at: 'infra/mirror/argocd/health.lua',
    change: 'obj.status.observedGeneration ~= obj.metadata.generation',
    to: 'obj.status.observedGeneration == nil',
    killedBy: 'test/unit/infra/fleet-mirror.test.ts: never shows as healthy what was not observed',
  },
  'gitops-on-delete-is-healthy': {
    bug: 'Argo CD shows a rollout in copilot as healthy before its canary is updated (44.7)',
    at: 'examples/gitops/argocd/health.lua',
    change: 'strategy.type == "OnDelete" and not hasPolicy',
    to: 'strategy.type == "OnDelete"',
    killedBy: 'test/unit/docs/gitops.test.ts: shows a release as Progressing from its apply',
  },
  'on-call-writes-registrations': {
    bug: 'who is on call may write registrations, too (security, operators)',
    at: 'infra/operators.yml#Sid=Freeze > =FREEZE#*',
    to: "'FREEZE#*', 'CLUSTER#*'",
    killedBy: 'test/security/operators.test.ts: writes no other partition of either table',
  },
  'roles-of-any-stage-send': {
    bug: 'roles of every stage of the organisation may send',
    at: 'infra/policies.yml#aws:PrincipalArn',
    to: 'arn:*:iam::*:role/rollcall/*',
    killedBy:
      'test/security/template.test.ts: nobody from outside may do anything but send, from roles of the organisation under the path',
  },
  'letters-expire-early': {
    bug: 'dead hints expire with the age of their queue',
    at: 'infra/queues.yml#ReconcileDeadLetterQueue > MessageRetentionPeriod',
    to: '345600',
    killedBy: 'test/security/template.test.ts: the packaged template (issue 7)',
  },
  'events-visibility': {
    bug: 'a crash of ingest holds its cluster back for 200 s instead of 20',
    at: 'infra/queues.yml#VisibilityTimeout',
    change: 'VisibilityTimeout: 20',
    to: 'VisibilityTimeout: 200',
    killedBy:
      'test/security/template.test.ts: a lease is twice the function’s time where it blocks a group',
  },
  'timers-die-as-credentials': {
    bug: 'timers that are given up go to the dead letters of credentials',
    at: 'infra/queues.yml#deadLetterTargetArn',
    change: 'deadLetterTargetArn: !GetAtt DelayDeadLetterQueue.Arn',
    to: 'deadLetterTargetArn: !GetAtt CredentialsDeadLetterQueue.Arn',
    killedBy:
      'test/security/template.test.ts: every work queue has a dead-letter queue of its kind, which keeps longest and is polled',
  },
  'tokens-renewed-once-a-day': {
    bug: 'the renewer runs once a day, and its tokens live four hours',
    at: 'infra/renewer/cronjob.yaml#schedule',
    to: "'17 3 * * *'",
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: renews a token four times in its life',
  },
  'requeue-may-send-events': {
    bug: 'requeue may send to the events queue (security, rights in AWS)',
    at: 'infra/roles.yml#Sid=ForwardOrHop > Resource',
    to: '[!GetAtt EventsQueue.Arn, !GetAtt ReconcileQueue.Arn, !GetAtt DelayQueue.Arn]',
    killedBy: 'test/security/iam.test.ts: does everything under its role, and uses every right',
  },
  'dead-letters-go-back-at-once': {
    bug: 'dead-letter may send to the queue that gave a hint up',
    at: 'infra/roles.yml#Sid=LookAgainLater > Resource',
    to: '[!GetAtt DelayQueue.Arn, !GetAtt ReconcileQueue.Arn]',
    killedBy:
      'test/security/iam.test.ts: does everything under its role, and uses every right and every key prefix of it',
  },
  'dead-letter-may-write-state': {
    bug: 'dead-letter may change states (security, rights in AWS)',
    at: 'infra/roles.yml#Sid=MarkIncomplete > =CLUSTER#*',
    to: "'CLUSTER#*', 'DS#*'",
    killedBy: 'test/security/iam.test.ts: does everything under its role, and uses every right',
  },
  'reconcile-owns-the-registry': {
    bug: 'a stolen session of reconcile leaves a registration of its own behind (40.7)',
    at: 'infra/roles.yml#Sid=NoteRival > =RIVAL#*',
    to: "'RIVAL#*', 'CLUSTER#*'",
    killedBy: 'test/security/stolen-reconcile.test.ts: writes no registration and no freeze',
  },
  'rivals-may-be-deleted': {
    bug: 'reconcile may delete notes of rivals (security, rights in AWS)',
    at: 'infra/roles.yml#Sid=NoteRival > Action',
    to: '[dynamodb:PutItem, dynamodb:DeleteItem]',
    killedBy: 'test/security/iam.test.ts: does everything under its role, and uses every right',
  },
  'requeue-polls-two-queues': {
    bug: 'requeue may take messages of reconcile (security, rights in AWS)',
    at: 'infra/roles.yml#Sid=Poll > Resource',
    change: 'Resource: !GetAtt DelayQueue.Arn',
    to: 'Resource: [!GetAtt DelayQueue.Arn, !GetAtt ReconcileQueue.Arn]',
    killedBy:
      'test/security/iam.test.ts: give every mapping its own queue and nothing else to poll',
  },
  'credential-opens-no-token': {
    bug: 'credential may not open the tokens that act',
    at: 'infra/roles.yml#Statement',
    change: '- *openToken\n              - *openRequestToken',
    to: '- *openRequestToken',
    killedBy:
      'test/security/template.test.ts: the key names exactly the roles that may open with it',
  },
  'interfaces-for-code': {
    bug: 'network interfaces are denied to Lambda and given to the code',
    at: 'infra/roles.yml#lambda:SourceFunctionArn',
    to: "'true'",
    killedBy: 'test/security/template.test.ts: the packaged template (issue 7)',
  },
  'grace-below-release': {
    bug: 'the watcher is killed before it has given its Lease back',
    at: 'infra/watcher/deployment.yaml#terminationGracePeriodSeconds',
    to: '5',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: stops a watcher no sooner than it has given its Lease back',
  },
  'watchers-read-any-namespace': {
    bug: 'a watcher may read every namespace, not kube-system alone (security, rights)',
    at: 'infra/watcher/rbac.yaml#rules',
    change: 'resourceNames: [kube-system]',
    to: '',
    killedBy:
      'test/unit/infra/watcher-rights.test.ts: gets kube-system, and keeps its own Lease: nothing else',
  },
  'another-namespace-in-template': {
    bug: 'the functions are told another namespace than that of the alarms',
    at: 'serverless.yml#POWERTOOLS_METRICS_NAMESPACE',
    to: 'rollcall/${sls:stage}',
    killedBy:
      'test/security/template.test.ts: alarms and the dashboard look where the functions write',
  },
  'suffixes-not-told': {
    bug: 'the allow-list of hosts does not reach the functions',
    at: 'serverless.yml#environment',
    change: 'ROLLCALL_ENDPOINT_SUFFIXES: ${param:endpointSuffixes}',
    to: '',
    killedBy: 'test/security/template.test.ts: carries its parameters to where they count',
  },
  'ingest-outlives-its-lease': {
    bug: 'ingest may take longer than half of what its messages are leased for',
    at: 'serverless.yml#ingest > timeout',
    to: '20',
    killedBy:
      'test/security/template.test.ts: a lease is twice the function’s time where it blocks a group',
  },
  'run-of-five-minutes': {
    bug: 'reconcile is stopped after five minutes while intents count on thirty seconds',
    at: 'serverless.yml#reconcile > timeout',
    to: '300',
    killedBy: 'test/unit/app/reconcile/time-outs.test.ts: are those that are kept',
  },
  'a-function-has-an-address': {
    bug: 'anybody may call requeue by an address of its own (security, rights in AWS)',
    at: 'serverless.yml#requeue',
    change: 'handler: dist/functions/requeue/handler.handler',
    to: 'handler: dist/functions/requeue/handler.handler\n    url: true',
    killedBy:
      'test/security/template.test.ts: there is no public endpoint, nor anything of a kind that nobody has judged',
  },
  'hops-stopped': {
    bug: 'Lambda takes hops for a runaway loop and stops them after sixteen',
    at: 'serverless.yml#requeue',
    change:
      '# Longer delays hop through its own queue: 6 h are 24 hops. See reconcile.\n    recursiveLoop: Allow',
    to: '',
    killedBy: 'test/security/template.test.ts: the packaged template (issue 7)',
  },
  'resync-is-switched-off': {
    bug: 'the schedule of resync is switched off',
    at: 'serverless.yml#resync > enabled',
    to: 'false',
    killedBy:
      'test/security/template.test.ts: resync and fleet are called as often as the alarms about their stop count, and end before their next turn',
  },
  'schedule-every-sixty-hours': {
    bug: 'the schedule of resync fires every sixty hours',
    at: 'serverless.yml#resync > rate',
    to: 'rate(60 hours)',
    killedBy:
      'test/security/template.test.ts: resync and fleet are called as often as the alarms about their stop count',
  },
  'requeue-fails-whole-batches': {
    bug: 'Lambda does not read which timers of a batch failed',
    at: 'serverless.yml#sqs',
    change: 'maximumConcurrency: 10\n          functionResponseType: ReportBatchItemFailures',
    to: 'maximumConcurrency: 10',
    killedBy:
      'test/security/template.test.ts: every mapping reports failures one by one and has a cap, all within what stack check asks for; reconcile takes ten hints at a time',
  },
};
