/** Rules about what people and the CLI see: outputs, alarms, the dashboard. */
import { STACK_OUTPUT_NAMES } from '../../../src/cli/reach/stack.ts';
import { METRICS } from '../../../src/ports/metrics.ts';
import type { ClusterTrouble } from '../../../src/core/hints/cluster-troubles.ts';
import { at, listOf, ofType, referredId, textOf, textsIn } from './template.ts';
import type { Identified, Rule, Template, Value } from './template.ts';

/** Of osls itself. */
const FOREIGN_OUTPUTS = ['ServerlessDeploymentBucketName'];
/** Stands for our namespace, which has the stage in it. */
const OWN = 'own ';
const AGE = 'ApproximateAgeOfOldestMessage';
/** Each must have an alarm. */
const WATCHED = [
  'own TroubledClusters',
  'own DeadLetters',
  'own HandlerFailures',
  'own RecordFailures',
  'own ConflictingControllers',
  'own FleetSteps',
  'own FleetDecisions',
  'own RefusedSenders',
  'AWS/Lambda Errors',
  'AWS/Lambda Throttles',
  'AWS/Lambda Invocations',
];

/** Of each of these, too: somebody is called for every kind. */
const TROUBLES: Readonly<Record<ClusterTrouble, true>> = {
  silent: true,
  'never-heard': true,
  incomplete: true,
  unreachable: true,
  forbidden: true,
  'no-token': true,
  'egress-refused': true,
};

const outputs: Rule = {
  name: 'outputs are those that the CLI knows, and nothing is exported',
  check: (template) => {
    const names = Object.keys(template.Outputs).filter((name) => !FOREIGN_OUTPUTS.includes(name));
    const known: readonly string[] = STACK_OUTPUT_NAMES;
    return [
      ...known.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
      ...names.filter((name) => !known.includes(name)).map((name) => `${name} is nobody's`),
      ...names.filter((name) => at(template.Outputs[name], 'Value') === undefined),
      ...names.filter((name) => 'Export' in (template.Outputs[name] ?? {})),
    ];
  },
};

/** Kinds of trouble that no alarm looks at. */
function unwatchedTroubles(all: readonly Identified[], stage: string): readonly string[] {
  const watched = all
    .filter(({ properties }) => properties['Namespace'] === `Rollcall/${stage}`)
    .filter(({ properties }) => properties['MetricName'] === 'ClusterTroubles')
    .flatMap(({ properties }) => listOf(properties['Dimensions']))
    .filter((one) => at(one, 'Name') === 'outcome')
    .map((one) => textOf(at(one, 'Value')));
  return Object.keys(TROUBLES).filter((kind) => !watched.includes(kind));
}

/** Namespace and name of every metric that an alarm looks at; our namespace without its stage. */
function metricsOf({ properties }: Identified, stage: string): readonly string[] {
  const single = [properties['Namespace'], properties['MetricName']];
  const metrics = listOf(properties['Metrics']);
  const named = [single, ...metrics.map((one) => metricOf(at(one, 'MetricStat', 'Metric')))];
  const queried = metrics.flatMap((one) => {
    const query = textOf(at(one, 'Expression'));
    const [, name, namespace] = /^SELECT SUM\((\w+)\) FROM SCHEMA\("([^"]+)", /.exec(query) ?? [];
    return name === undefined ? [] : [[namespace, name]];
  });
  return [...named, ...queried]
    .filter(([, name]) => name !== undefined)
    .map((pair) => pair.map(textOf).join(' ').replace(`Rollcall/${stage} `, OWN));
}

function metricOf(metric: Value | undefined): readonly (Value | undefined)[] {
  return [at(metric, 'Namespace'), at(metric, 'MetricName')];
}

const alarms: Rule = {
  name: 'alarms watch what matters, and call the topic when there is one',
  check: (template, stage) => {
    const all = ofType(template, 'AWS::CloudWatch::Alarm');
    const watched = new Set(all.flatMap((alarm) => metricsOf(alarm, stage)));
    const aged = all
      .filter(({ properties }) => properties['MetricName'] === AGE)
      .map(({ properties }) => referredId(at(properties, 'Dimensions', 0, 'Value'), 'QueueName'));
    const unwatchedQueues = workQueueIds(template).filter((id) => !aged.includes(id));
    const faults = all.flatMap(({ id, resource, properties }) => [
      ...(callsTopic(properties['AlarmActions']) ? [] : [`${id} calls nobody`]),
      ...(callsTopic(properties['OKActions']) ? [] : [`${id} does not say that it is over`]),
      ...(resource.Condition === 'HasAlarms' ? [] : [`${id} cannot be left out`]),
      ...('TreatMissingData' in properties ? [] : [`${id} is undecided without data`]),
      ...(textOf(properties['AlarmName']).startsWith(`rollcall-${stage}-`) ? [] : [`${id}: name`]),
      ...(properties['AlarmDescription'] === undefined ? [`${id} explains nothing`] : []),
    ]);
    return [
      ...WATCHED.filter((metric) => !watched.has(metric)).map((metric) => `${metric}: no alarm`),
      ...unwatchedTroubles(all, stage).map((kind) => `${kind}: no alarm`),
      ...unwatchedQueues.map((id) => `${id}: nobody sees how old its messages are`),
      ...unknownMetrics(watched),
      ...faults,
    ];
  },
};

function callsTopic(actions: Value | undefined): boolean {
  return listOf(at(actions, 'Fn::If'))[0] === 'HasAlarmTopic';
}

function workQueueIds(template: Template): readonly string[] {
  return ofType(template, 'AWS::SQS::Queue')
    .filter(({ properties }) => 'RedrivePolicy' in properties)
    .map(({ id }) => id);
}

/** Ours that src/ports/metrics.ts does not have: a renamed metric would leave its alarm deaf. */
function unknownMetrics(metrics: Iterable<string>): readonly string[] {
  return [...metrics]
    .filter((metric) => metric.startsWith(OWN))
    .map((metric) => metric.replace(OWN, ''))
    .filter((name) => !(name in METRICS))
    .map((name) => `${name} is no metric`);
}

const dashboard: Rule = {
  name: 'the dashboard is valid, shows every alarm, and draws metrics that exist',
  check: (template, stage) => {
    const boards = ofType(template, 'AWS::CloudWatch::Dashboard');
    if (boards.length !== 1) return [`${String(boards.length)} dashboards`];
    const body = JSON.parse(textOf(at(boards[0]?.properties, 'DashboardBody', 'Fn::Sub'))) as Value;
    const texts = textsIn(body);
    const shown = texts.map((text) => text.split(':alarm:')[1]);
    const hidden = ofType(template, 'AWS::CloudWatch::Alarm')
      .map(({ properties }) => textOf(properties['AlarmName']))
      .filter((name) => !shown.includes(name));
    const alone = listOf(at(body, 'widgets'))
      .flatMap((widget) => listOf(at(widget, 'properties', 'metrics')))
      .filter((metric) => at(metric, 0) === `Rollcall/${stage}`)
      .map((metric) => `${OWN}${textOf(at(metric, 1))}`);
    const searched = texts.flatMap((text) => {
      const name = /^SEARCH\('\{"Rollcall\/[^"]+",service,outcome\} MetricName="(\w+)"'/.exec(text);
      return name === null ? [] : [`${OWN}${String(name[1])}`];
    });
    return [
      ...hidden.map((name) => `${name} is not shown`),
      ...(alone.length > 0 && searched.length > 0 ? [] : ['draws nothing of ours']),
      ...unknownMetrics([...alone, ...searched]),
    ];
  },
};

/** All of them. */
export const watchRules: readonly Rule[] = [outputs, alarms, dashboard];
