/**
 * Rules about what alarms measure: that it is where functions write it, and how much of it for how long calls somebody.
 *
 * What is published (docs/operations.md, "By alarm", and the alarms' own descriptions) stands here as values on both sides
 * of each threshold, and the minutes within which somebody is called. An alarm that is not here breaks the rule.
 */
import { TOKEN_SECONDS_MIN } from '../../../src/adapters/kubernetes/settings/renew-settings.ts';
import { DELAY_SECONDS_MAX } from '../../../src/adapters/sqs/hint-queue.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { at, isMap, listOf, ofType, textOf } from './template.ts';
import type { Identified, Rule, Template, Value } from './template.ts';

const OWN = 'Rollcall';
const MINUTE_S = 60;

/** What every alarm says, by its name behind the stage. */
interface Expectation {
  /** The most that calls nobody. */
  readonly quiet: number;
  /** What calls somebody when it lasts. */
  readonly loud: number;
  readonly withinMinutes: number;
  /** What is published to last that long calls nobody sooner. */
  readonly notWithinMinutes?: number;
}

/** Any at all: at once (what counts once it lasts is counted so), or when it lasts. */
const ANY = { quiet: 0, loud: 1, withinMinutes: 5 };
const ANY_THAT_LASTS = { quiet: 0, loud: 1, withinMinutes: 15, notWithinMinutes: 14 };

const EXPECTED: Readonly<Record<string, Expectation>> = {
  'silent-clusters': ANY,
  'never-heard-clusters': ANY,
  'incomplete-views': ANY,
  'silent-api-servers': ANY,
  'cluster-refusals': ANY,
  'egress-refusals': ANY,
  'token-faults': ANY,
  // Percent of the clusters.
  'troubled-clusters': { quiet: 2, loud: 2.1, withinMinutes: 5 },
  'credential-refusals': ANY,
  'ingest-refusals': ANY,
  'conflicting-controllers': ANY,
  'fleet-faults': ANY_THAT_LASTS,
  'fleet-halts': ANY,
  // A minute and more.
  'ingest-lag': { quiet: 60_000, loud: 60_001, withinMinutes: 5 },
  'set-hashes': ANY,
  // Minutes, and long before the clusters count as silent.
  'events-age': { quiet: 60, loud: 180, withinMinutes: 5 },
  'reconcile-age': { quiet: 120, loud: 360, withinMinutes: 5 },
  // A timer may wait on purpose.
  'delay-age': { quiet: DELAY_SECONDS_MAX, loud: DELAY_SECONDS_MAX + 600, withinMinutes: 5 },
  // Half of the shortest life of a token.
  'credentials-age': { quiet: 120, loud: TOKEN_SECONDS_MIN / 2, withinMinutes: 5 },
  'events-stuck': ANY_THAT_LASTS,
  'reconcile-stuck': ANY_THAT_LASTS,
  'delay-stuck': ANY_THAT_LASTS,
  'credentials-stuck': ANY_THAT_LASTS,
  'dead-letters': ANY,
  'dead-letters-wait': ANY_THAT_LASTS,
  'function-errors': ANY,
  'handler-failures': ANY,
  'record-failures': ANY_THAT_LASTS,
  throttles: ANY,
  'resync-stopped': { quiet: 1, loud: 0, withinMinutes: 5 },
  'fleet-stopped': { quiet: 1, loud: 0, withinMinutes: 5 },
  // Of 55,000 milliseconds.
  'fleet-timeouts': { quiet: 54_000, loud: 55_000, withinMinutes: 5 },
  'table-throttles': ANY,
};

/** Within how many minutes an alarm, by its name behind the stage, calls somebody; undefined: nobody has said so. */
export function promisedMinutes(name: string): number | undefined {
  return EXPECTED[name]?.withinMinutes;
}

const BREACHES: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};
/** Statistics that show the one bad value among many; `Minimum` is for what must never be gone (`stuck`). */
const STATISTICS = ['Sum', 'Maximum', 'p95'];

function periodsOf({ properties }: Identified): readonly number[] {
  const metrics = listOf(properties['Metrics']);
  return [
    properties['Period'],
    ...metrics.flatMap((one) => [at(one, 'Period'), at(one, 'MetricStat', 'Period')]),
  ]
    .filter((one) => one !== undefined)
    .map(Number);
}

function statisticsOf({ properties }: Identified): readonly string[] {
  const metrics = listOf(properties['Metrics']);
  return [
    properties['Statistic'],
    properties['ExtendedStatistic'],
    ...metrics.map((one) => at(one, 'MetricStat', 'Stat')),
  ]
    .filter((one) => one !== undefined)
    .map(textOf);
}

function faultsOf(alarm: Identified, name: string): readonly string[] {
  const { properties } = alarm;
  const expected = EXPECTED[name];
  if (expected === undefined) return [`${name}: nobody has said when it rings`];
  const breaches = BREACHES[textOf(properties['ComparisonOperator'])];
  if (breaches === undefined) return [`${name} compares in another way`];
  const threshold = Number(properties['Threshold']);
  const needed = Number(properties['DatapointsToAlarm'] ?? properties['EvaluationPeriods']);
  const minutes = (needed * Math.max(...periodsOf(alarm))) / MINUTE_S;
  const { quiet, loud, withinMinutes, notWithinMinutes = 0 } = expected;
  const statistics = name.endsWith('-stuck') ? [...STATISTICS, 'Minimum'] : STATISTICS;
  return [
    ...(breaches(quiet, threshold) ? [`${name} rings at ${quiet}`] : []),
    ...(breaches(loud, threshold) ? [] : [`${name} does not ring at ${loud}`]),
    ...(minutes <= withinMinutes ? [] : [`${name} rings after ${minutes} minutes`]),
    ...(minutes > notWithinMinutes ? [] : [`${name} rings within ${minutes} minutes`]),
    ...statisticsOf(alarm)
      .filter((one) => !statistics.includes(one))
      .map((one) => `${name} looks at the ${one}`),
  ];
}

const thresholds: Rule = {
  name: 'each alarm rings at what is published, in time, and at no less',
  check: (template, stage) => {
    const alarms = ofType(template, 'AWS::CloudWatch::Alarm').map((alarm) => ({
      alarm,
      name: textOf(alarm.properties['AlarmName']).replace(`rollcall-${stage}-`, ''),
    }));
    const names = new Set(alarms.map(({ name }) => name));
    return [
      ...alarms.flatMap(({ alarm, name }) => faultsOf(alarm, name)),
      ...Object.keys(EXPECTED)
        .filter((name) => !names.has(name))
        .map((name) => `${name} is no alarm`),
      ...silenceBeforeAlarm(alarms.find(({ name }) => name === 'events-age')?.alarm),
    ];
  },
};

/** A queue that stands still is told before its clusters count as silent, and are left alone (protocol 1). */
function silenceBeforeAlarm(alarm: Identified | undefined): readonly string[] {
  if (alarm === undefined) return [];
  const { Threshold, DatapointsToAlarm } = alarm.properties;
  const ringsAfterS = Number(Threshold) + Number(DatapointsToAlarm) * Math.max(...periodsOf(alarm));
  const silentAfterS = defaultReconcileOptions.silenceBoundMs / 1000;
  return ringsAfterS <= silentAfterS / 2 ? [] : [`events-age rings after ${ringsAfterS} s`];
}

/** Every namespace of ours that alarms and the dashboard look into. */
function namespacesSeen(template: Template): ReadonlySet<string> {
  const alarms = ofType(template, 'AWS::CloudWatch::Alarm');
  const boards = ofType(template, 'AWS::CloudWatch::Dashboard');
  const texts = [...alarms, ...boards].map(({ properties }) => JSON.stringify(properties));
  return new Set(
    texts.flatMap(
      (text) => text.match(new RegExp(`${OWN}/[A-Za-z0-9-]+|\\b${OWN}(?=\\\\?")`, 'g')) ?? [],
    ),
  );
}

/** Names of functions, which are the values of the dimension `service`. */
function servicesOf(template: Template): readonly string[] {
  return ofType(template, 'AWS::Lambda::Function').map(
    ({ properties }) => textOf(properties['Handler']).split('/')[2] ?? '',
  );
}

function servicesWatched(template: Template): readonly string[] {
  const dimensions = ofType(template, 'AWS::CloudWatch::Alarm').flatMap(({ properties }) =>
    listOf(properties['Dimensions']),
  );
  return dimensions
    .filter((one: Value) => isMap(one) && one['Name'] === 'service')
    .map((one) => textOf(at(one, 'Value')));
}

const namespaces: Rule = {
  name: 'alarms and the dashboard look where the functions write: one namespace, and services that exist',
  check: (template) => {
    const seen = namespacesSeen(template);
    const services = servicesOf(template);
    const written = ofType(template, 'AWS::Lambda::Function').map(({ id, properties }) => ({
      id,
      namespace: textOf(at(properties, 'Environment', 'Variables', 'POWERTOOLS_METRICS_NAMESPACE')),
    }));
    return [
      ...(seen.size === 1 ? [] : [`${[...seen].join(', ')} are looked into`]),
      ...written
        .filter(({ namespace }) => !seen.has(namespace))
        .map(({ id, namespace }) => `${id} writes to ${namespace}, where nobody looks`),
      ...servicesWatched(template)
        .filter((name) => !services.includes(name))
        .map((name) => `${name} is no function`),
    ];
  },
};

const RATE = /^rate\((\d+) minutes?\)$/;

const SCHEDULED = ['Resync', 'Fleet'];

function scheduleFaults({ Resources }: Template, name: string): readonly string[] {
  const stopped = Resources[`${name}StoppedAlarm`]?.Properties ?? {};
  const rule = Resources[`${name}EventsRuleSchedule1`]?.Properties ?? {};
  const { Timeout } = Resources[`${name}LambdaFunction`]?.Properties ?? {};
  const periodS = Number(stopped['Period']);
  const expression = textOf(rule['ScheduleExpression']);
  const everyS = Number(RATE.exec(expression)?.[1]) * MINUTE_S;
  const isFault: Readonly<Record<string, boolean>> = {
    [`${name}: ${expression}`]: everyS !== periodS,
    [`${name} is off`]: rule['State'] !== 'ENABLED',
    [`${name} may take ${textOf(Timeout)} s`]: !(Number(Timeout) < periodS),
    // Never called is no data at all.
    [`a stop of ${name} is taken for silence`]: stopped['TreatMissingData'] !== 'breaching',
  };
  return Object.keys(isFault).filter((fault) => isFault[fault]);
}

const schedule: Rule = {
  name: 'resync and fleet are called as often as the alarms about their stop count, and end before their next turn',
  check: (template) => {
    const rules = ofType(template, 'AWS::Events::Rule');
    return [
      ...(rules.length === SCHEDULED.length ? [] : [`${rules.length} schedules`]),
      ...SCHEDULED.flatMap((name) => scheduleFaults(template, name)),
    ];
  },
};

/** All of them. */
export const alarmRules: readonly Rule[] = [thresholds, namespaces, schedule];
