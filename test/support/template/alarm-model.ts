/**
 * A queue as CloudWatch sees it minute by minute, and whether an alarm on it rings (aws-rules F9).
 *
 * The age of the oldest message leaves out every message that was received three times, until it is consumed; counts do
 * not. Knows the two forms of alarms on queues that infra/alarms has: one metric, and `IF(FILL(x, 0) > 0, 0, y + z)`.
 */
import { at, listOf, referredId, textOf, type Identified, type Value } from './template.ts';

/** A message that waits: since when, and how often it was received. */
export interface ModelMessage {
  readonly sentAtS: number;
  readonly receives: number;
  readonly isInFlight: boolean;
}

export interface QueueMinute {
  readonly nowS: number;
  readonly messages: readonly ModelMessage[];
  /** Finished within the minute. */
  readonly deleted: number;
}

const RECEIVES_OF_AGE_MAX = 2;

/** What SQS reports of a minute, by the name of the metric. */
export function metricsOfQueue({ nowS, messages, deleted }: QueueMinute): Record<string, number> {
  const ages = messages
    .filter(({ receives }) => receives <= RECEIVES_OF_AGE_MAX)
    .map(({ sentAtS }) => nowS - sentAtS);
  return {
    ApproximateAgeOfOldestMessage: Math.max(0, ...ages),
    ApproximateNumberOfMessagesVisible: messages.filter((one) => !one.isInFlight).length,
    ApproximateNumberOfMessagesNotVisible: messages.filter((one) => one.isInFlight).length,
    NumberOfMessagesDeleted: deleted,
  };
}

/** The queue that every metric of an alarm is about; undefined when they are of several, or of none. */
export function queueOfAlarm({ properties }: Identified): string | undefined {
  const dimensions = [
    properties['Dimensions'],
    ...listOf(properties['Metrics']).map((one) => at(one, 'MetricStat', 'Metric', 'Dimensions')),
  ].filter((one) => one !== undefined);
  const ids = new Set(dimensions.map((one) => referredId(at(one, 0, 'Value'), 'QueueName')));
  return ids.size === 1 ? [...ids][0] : undefined;
}

/** The minute at which the alarm first rings; undefined when it does not. */
export function ringsAt(
  { properties }: Identified,
  minutes: readonly QueueMinute[],
): number | undefined {
  const periods = Number(properties['EvaluationPeriods']);
  const needed = Number(properties['DatapointsToAlarm'] ?? periods);
  const values = minutes.map((minute) => valueOf(properties, metricsOfQueue(minute)));
  const breaches = values.map((value) => value > Number(properties['Threshold']));
  const found = breaches.findIndex((_, last) => {
    const window = breaches.slice(Math.max(0, last - periods + 1), last + 1);
    return window.filter(Boolean).length >= needed;
  });
  return found === -1 ? undefined : found;
}

function valueOf(properties: Identified['properties'], metrics: Record<string, number>): number {
  const single = properties['MetricName'];
  if (single !== undefined) return metrics[textOf(single)] ?? Number.NaN;
  const of = (id: string): number => {
    const metric = listOf(properties['Metrics']).find((one: Value) => at(one, 'Id') === id);
    return metrics[textOf(at(metric, 'MetricStat', 'Metric', 'MetricName'))] ?? Number.NaN;
  };
  const expression = listOf(properties['Metrics'])
    .map((one) => at(one, 'Expression'))
    .find((one) => one !== undefined);
  const [, done, first, second] =
    /^IF\(FILL\((\w+), 0\) > 0, 0, (\w+) \+ (\w+)\)$/.exec(textOf(expression)) ?? [];
  if (done === undefined || first === undefined || second === undefined) return Number.NaN;
  return of(done) > 0 ? 0 : of(first) + of(second);
}
