/**
 * CloudWatch, as far as alarms need it: datapoints minute by minute, and when an alarm on them acts.
 *
 * Knows the forms that infra/alarms has: a metric with its dimensions; `SELECT SUM(…) FROM SCHEMA(…)`, which takes the metrics
 * that have exactly these dimensions; `SUM(METRICS())`; `IF(FILL(x, 0) > 0, 0, y + z)`; a share of a whole with a floor. Any
 * other form is an error. A period without data counts as the alarm says; what counts as neither never rings.
 */
import { at, listOf, referredId, textOf } from './template.ts';
import type { Identified, Value, ValueMap } from './template.ts';

/** One value of one metric in one minute. Queues, functions and tables are named by their ids in the template. */
export interface Datapoint {
  readonly minute: number;
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly value: number;
}

/** When the alarm first rings, in minutes since the first one began; undefined: it does not within these minutes. */
export function firstRing(
  alarm: Identified,
  data: readonly Datapoint[],
  minutes: number,
): number | undefined {
  return actionsOf(alarm, data, minutes)[0];
}

/** Periods beyond those that are evaluated from which CloudWatch takes datapoints where some are missing. */
const FURTHER_BACK = 2;

/**
 * The minutes at which the alarm calls somebody: where its state becomes ALARM, and no other. Where datapoints are missing, older
 * ones within reach count in their place, so that a state may last some periods longer than what it is about.
 */
export function actionsOf(
  { properties }: Identified,
  data: readonly Datapoint[],
  minutes: number,
): readonly number[] {
  const periodMinutes = periodSecondsOf(properties) / 60;
  const evaluated = Number(properties['EvaluationPeriods']);
  const needed = Number(properties['DatapointsToAlarm'] ?? evaluated);
  const perMinute = Map.groupBy(data, ({ minute }) => minute);
  const values = Array.from({ length: Math.floor(minutes / periodMinutes) }, (_, period) => {
    const from = period * periodMinutes;
    const within = Array.from(
      { length: periodMinutes },
      (__, index) => perMinute.get(from + index) ?? [],
    );
    return valueOf(properties, within.flat());
  });
  const isAlarm = values.map((_, last) => {
    const reach = values.slice(Math.max(0, last - evaluated - FURTHER_BACK + 1), last + 1);
    const known = reach.filter((value) => value !== undefined).slice(-evaluated);
    const filled: readonly (number | undefined)[] = [
      ...known,
      ...Array.from({ length: Math.min(last + 1, evaluated) - known.length }, () => undefined),
    ];
    return filled.filter((value) => isBreach(properties, value)).length >= needed;
  });
  return isAlarm.flatMap((is, period) =>
    is && isAlarm[period - 1] !== true ? [(period + 1) * periodMinutes] : [],
  );
}

function periodSecondsOf(properties: ValueMap): number {
  const metrics = listOf(properties['Metrics']);
  const periods = [
    properties['Period'],
    ...metrics.flatMap((one) => [at(one, 'Period'), at(one, 'MetricStat', 'Period')]),
  ].filter((one) => one !== undefined);
  return Math.max(...periods.map(Number));
}

function isBreach(properties: ValueMap, value: number | undefined): boolean {
  if (value === undefined) return properties['TreatMissingData'] === 'breaching';
  const threshold = Number(properties['Threshold']);
  const operator = textOf(properties['ComparisonOperator']);
  if (operator === 'GreaterThanThreshold') return value > threshold;
  if (operator === 'LessThanThreshold') return value < threshold;
  throw new Error(`${operator} is not known here`);
}

/** The alarm's value of one period; undefined: no data. */
function valueOf(properties: ValueMap, data: readonly Datapoint[]): number | undefined {
  if (properties['MetricName'] !== undefined) {
    const statistic = properties['Statistic'] ?? properties['ExtendedStatistic'];
    return statisticOf(textOf(statistic), pick(properties, data));
  }
  const metrics = listOf(properties['Metrics']);
  const expression = textOf(metrics.map((one) => at(one, 'Expression')).find(isGiven));
  const selected = select(expression, data);
  if (selected !== undefined) return statisticOf('Sum', selected);
  const values = new Map(
    metrics
      .filter((one) => isGiven(at(one, 'MetricStat')))
      .map((one) => [textOf(at(one, 'Id')), statisticOfMetric(at(one, 'MetricStat'), data)]),
  );
  return compute(expression, values);
}

const isGiven = (value: Value | undefined): boolean => value !== undefined;

function statisticOfMetric(
  metricStat: Value | undefined,
  data: readonly Datapoint[],
): number | undefined {
  const metric = at(metricStat, 'Metric') as ValueMap;
  return statisticOf(textOf(at(metricStat, 'Stat')), pick(metric, data));
}

function compute(
  expression: string,
  values: ReadonlyMap<string, number | undefined>,
): number | undefined {
  if (expression === 'SUM(METRICS())') {
    const there = [...values.values()].filter((value) => value !== undefined);
    return there.length === 0 ? undefined : there.reduce((sum, value) => sum + value, 0);
  }
  const of = (id: string | undefined): number | undefined => values.get(id ?? '');
  const stuck = /^IF\(FILL\((\w+), 0\) > 0, 0, (\w+) \+ (\w+)\)$/.exec(expression);
  if (stuck !== null) {
    const [left, right] = [of(stuck[2]), of(stuck[3])];
    if (left === undefined || right === undefined) return undefined;
    return (of(stuck[1]) ?? 0) > 0 ? 0 : left + right;
  }
  const share = /^IF\((\w+) > (\d+), 100 \* \1 \/ (\w+), 0\)$/.exec(expression);
  if (share === null) throw new Error(`${expression} is not known here`);
  const [part, whole] = [of(share[1]), of(share[3])];
  if (part === undefined || whole === undefined) return undefined;
  return part > Number(share[2]) ? (100 * part) / whole : 0;
}

/** What a query takes; undefined when the expression is none. */
function select(expression: string, data: readonly Datapoint[]): readonly number[] | undefined {
  const [, name, namespace, names] =
    /^SELECT SUM\((\w+)\) FROM SCHEMA\("([^"]+)", ([\w, ]+)\)$/.exec(expression) ?? [];
  if (names === undefined) return undefined;
  const wanted = names.split(', ').sort().join();
  return data
    .filter((one) => one.name === name && one.namespace === namespace)
    .filter(({ dimensions }) => Object.keys(dimensions).sort().join() === wanted)
    .map(({ value }) => value);
}

/** The values of one metric, which is named by every one of its dimensions. */
function pick(metric: ValueMap, data: readonly Datapoint[]): readonly number[] {
  const wanted = listOf(metric['Dimensions']).map((one) => {
    const value = at(one, 'Value');
    return `${textOf(at(one, 'Name'))}=${referredId(value, 'QueueName') ?? textOf(value)}`;
  });
  const dimensionsOf = ({ dimensions }: Datapoint): string =>
    Object.entries(dimensions)
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join();
  return data
    .filter((one) => one.name === metric['MetricName'] && one.namespace === metric['Namespace'])
    .filter((one) => dimensionsOf(one) === wanted.sort().join())
    .map(({ value }) => value);
}

function statisticOf(statistic: string, values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  switch (statistic) {
    case 'Sum':
      return values.reduce((sum, value) => sum + value, 0);
    case 'Maximum':
      return Math.max(...values);
    case 'Minimum':
      return Math.min(...values);
    case 'p95':
      return values.toSorted((left, right) => left - right)[Math.ceil(values.length * 0.95) - 1];
    default:
      throw new Error(`the statistic ${statistic} is not known here`);
  }
}
