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

const ALARMS = 'test/unit/infra/alarms.test.ts';
const RINGS = 'rings in its stated time, whichever it is about';
const QUIET = 'ring for nobody on a day with a deployment, a restored cluster and slow minutes';

/** The rows of alarms (14 A.8). */
export const ALARM_BUGS: Readonly<Record<string, PlantedBug>> = {
  'alarm-on-another-service': {
    bug: 'the alarm on silent API servers looks at a function that never counts them (14 A.8)',
    file: 'infra/alarms/clusters.yml',
    before:
      'MetricName: BreakerRefusals\n      Dimensions:\n        - Name: service\n          Value: reconcile',
    after:
      'MetricName: BreakerRefusals\n      Dimensions:\n        - Name: service\n          Value: ingest',
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
    before:
      'EvaluationPeriods: 12\n      Threshold: 0\n      ComparisonOperator: GreaterThanThreshold\n      TreatMissingData: notBreaching',
    after:
      'EvaluationPeriods: 12\n      Threshold: 0\n      ComparisonOperator: GreaterThanThreshold\n      TreatMissingData: breaching',
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
    bug: 'what the breaker refuses is counted under another name than the alarm looks for (14 A.8)',
    file: 'src/app/isolation/cluster-gate.ts',
    before: "metrics.count('BreakerRefusals');",
    after: "metrics.count('BreakerRefused');",
    killedBy: { file: ALARMS, title: 'count what the code counts, under that name' },
  },
  'outcomes-not-written': {
    bug: 'the deployed metrics leave out the outcome, by which alarms look for them (14 A.8)',
    file: 'src/adapters/system/powertools-metrics.ts',
    before: "...(outcome === '' ? {} : { defaultDimensions: { outcome } }),",
    after: '',
    killedBy: { file: ALARMS, title: RINGS },
  },
};
