/**
 * Bugs that make an alarm deaf, slow or noisy, each of them in one line of a template or of what is measured.
 */
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

/** The alarm on clusters that were never heard of, from its outcome on. */
const NEVER_HEARD = [
  'Value: never-heard',
  '      Statistic: Sum',
  '      Period: 60',
  '      EvaluationPeriods: 1',
  '      Threshold: 0',
  '      ComparisonOperator: GreaterThanThreshold',
  '      TreatMissingData: notBreaching',
].join('\n');

const ALARMS = 'test/unit/infra/alarms.test.ts';
const ACTIONS = 'test/unit/infra/alarm-actions.test.ts';
const RINGS = 'rings in its stated time, whichever it is about';
const QUIET = 'ring for nobody on a day with a deployment, a restored cluster and slow minutes';

/** The rows of alarms (14 A.8). */
export const ALARM_BUGS: Readonly<Record<string, PlantedBug>> = {
  'alarm-on-another-service': {
    bug: 'the alarms on clusters look at a function that never counts them (14 A.8)',
    file: 'infra/alarms/clusters.yml',
    before: '&byResync\n          Name: service\n          Value: resync',
    after: '&byResync\n          Name: service\n          Value: reconcile',
    killedBy: { file: ALARMS, title: RINGS },
  },
  'alarm-with-a-dimension-too-many': {
    bug: 'the alarm on failing messages asks for an outcome, which that metric has not (14 A.8)',
    file: 'infra/alarms/functions.yml',
    before: 'FROM SCHEMA("Rollcall/${sls:stage}", service)',
    after: 'FROM SCHEMA("Rollcall/${sls:stage}", outcome, service)',
    killedBy: { file: ALARMS, title: RINGS },
  },
  'alarm-on-another-queue': {
    bug: 'one of the dead-letter queues that are looked at is a work queue (14 A.8)',
    file: 'infra/alarms/queues.yml',
    before: 'Value: !GetAtt DelayDeadLetterQueue.QueueName',
    after: 'Value: !GetAtt CredentialsQueue.QueueName',
    killedBy: { file: ALARMS, title: RINGS },
  },
  'alarm-after-an-hour': {
    bug: 'the alarm on views that differ from their cluster sums up hours (14 A.8)',
    file: 'infra/alarms/clusters.yml',
    before:
      'MetricName: IngestSetHashAlarms\n      Dimensions: *ofIngest\n      Statistic: Sum\n      Period: 300',
    after:
      'MetricName: IngestSetHashAlarms\n      Dimensions: *ofIngest\n      Statistic: Sum\n      Period: 3600',
    killedBy: { file: ALARMS, title: RINGS },
  },
  'no-data-is-no-alarm': {
    bug: 'a schedule of resync that stopped leaves no data, and nobody is called (14 A.8)',
    file: 'infra/alarms/functions.yml',
    before: RESYNC_SILENCE,
    after: RESYNC_SILENCE.replace('breaching', 'notBreaching'),
    killedBy: { file: ALARMS, title: RINGS },
  },
  'no-data-is-an-alarm': {
    bug: 'the alarm on clusters that were never heard of rings where there are none (14 A.8)',
    file: 'infra/alarms/clusters.yml',
    before: NEVER_HEARD,
    after: NEVER_HEARD.replace('notBreaching', 'breaching'),
    killedBy: { file: ALARMS, title: QUIET },
  },
  'alarm-at-the-first-slow-minute': {
    bug: 'a single slow minute of a deployment calls somebody (14 A.8)',
    file: 'infra/alarms/clusters.yml',
    before:
      'ExtendedStatistic: p95\n      Period: 60\n      EvaluationPeriods: 5\n      DatapointsToAlarm: 3',
    after:
      'ExtendedStatistic: p95\n      Period: 60\n      EvaluationPeriods: 5\n      DatapointsToAlarm: 1',
    killedBy: { file: ALARMS, title: QUIET },
  },
  'metric-renamed-in-code': {
    bug: 'what begins in clusters is counted under another name than the alarms look for (14 A.8)',
    file: 'src/app/resync/resync.ts',
    before: "metrics.count('ClusterTroubles',",
    after: "metrics.count('ClusterTrouble',",
    killedBy: { file: ALARMS, title: 'count what the code counts, under that name' },
  },
  'come-and-gone-counts-anew': {
    bug: 'a cluster that comes and goes counts each time, and holds its alarm for ever (issue 40)',
    file: 'src/core/hints/cluster-troubles.ts',
    before: 'FORGOTTEN_AFTER_MS = 60 * MINUTE_MS',
    after: 'FORGOTTEN_AFTER_MS = 1',
    killedBy: { file: ACTIONS, title: 'calls no more for one cluster that comes and goes' },
  },
  'quota-is-a-right': {
    bug: 'a full quota of a tenant calls the operator as a missing right does (issue 40)',
    file: 'src/app/isolation/talk-tally.ts',
    before: "each.kind === 'refused' && each.code === 'forbidden'",
    after: "each.kind === 'refused'",
    killedBy: { file: ACTIONS, title: 'calls nobody for what a tenant filled up' },
  },
  'counted-by-whom-lost-the-walk': {
    bug: 'what began is counted by each invocation that walked at the same time (issue 40)',
    file: 'src/app/resync/resync.ts',
    before: "if ((await view.writeWalk(paused)) === 'written') countTroubles",
    after: 'if ((await view.writeWalk(paused)) !== undefined) countTroubles',
    killedBy: {
      file: 'test/unit/app/resync/resync.test.ts',
      title: 'counts what began once, though another invocation took the walk over',
    },
  },
  'forgotten-watcher-calls-each-hour': {
    bug: 'a watcher that outlives its registration calls somebody with every record (issue 40)',
    file: 'src/adapters/dynamodb/registry-store.ts',
    before: 'ANEW_AFTER_MS = 24 * HOUR_MS',
    after: 'ANEW_AFTER_MS = 1',
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'the DynamoDB stores on the local tables (M4, row 62)',
    },
  },
  'outcomes-not-written': {
    bug: 'the deployed metrics leave out the outcome, by which alarms look for them (14 A.8)',
    file: 'src/adapters/system/powertools-metrics.ts',
    before: "...(outcome === '' ? {} : { defaultDimensions: { outcome } }),",
    after: '',
    killedBy: { file: ALARMS, title: RINGS },
  },
};
