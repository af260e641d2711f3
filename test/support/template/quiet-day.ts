/**
 * A day on which nobody is called, though not everything is well all the time: what alarms must forgive.
 *
 * A deployment finds no room for two minutes; a cluster that is restored is slow, and refuses; every delivery of another fails for
 * ten. What is a bug or a lost message at once is not among it, nor what counts once it has lasted (alarm-actions.test.ts).
 */
import type { Datapoint } from './alarm-clock.ts';
import { MeasuredFunctions, SITUATIONS, type Situation } from './alarm-situations.ts';
import { metricsOfQueue } from './alarm-model.ts';

const DAY_MINUTES = 24 * 60;
const QUEUES = ['EventsQueue', 'ReconcileQueue', 'DelayQueue', 'CredentialsQueue'];

/** From when on, for how long, in minutes: alarms that these would ring if they lasted. */
const TROUBLES: readonly (readonly [from: number, length: number, alarms: readonly string[]])[] = [
  [300, 2, ['throttles', 'table-throttles', 'events-age', 'ingest-lag']],
  [600, 2, ['ingest-lag', 'reconcile-age']],
  [600, 10, ['record-failures']],
  [900, 10, ['events-stuck', 'reconcile-stuck', 'delay-stuck']],
  [1200, 10, ['credentials-stuck', 'dead-letters-wait']],
];

const resync: Situation = {
  service: 'resync',
  metric: 'TroubledClusters',
  code: 'src/app/resync/resync.ts',
  write: (metrics) => {
    metrics.record('TroubledClusters', 1, 'Count');
    metrics.record('RegisteredClusters', 30, 'Count');
    metrics.count('ResyncClusters', { outcome: 'heard', by: 30 });
  },
};
const ingest: Situation = {
  service: 'ingest',
  metric: 'IngestLag',
  code: 'src/app/ingest/ingest-message.ts',
  write: (metrics) => {
    for (const lagMs of [300, 250, 900]) metrics.record('IngestLag', lagMs, 'Milliseconds');
    metrics.count('IngestMessages', { outcome: 'applied', by: 3 });
  },
};
/** A fleet at work: there is always something in flight, and it is finished; at night nothing is. */
const queues: Situation = {
  measure: (minute) =>
    QUEUES.flatMap((QueueName) => {
      const isNight = minute < 120;
      const metrics = metricsOfQueue({
        nowS: minute * 60,
        messages: isNight ? [] : [{ sentAtS: minute * 60 - 5, receives: 1, isInFlight: true }],
        deleted: isNight ? 0 : 100,
      });
      const dimensions = { QueueName };
      return Object.entries(metrics).map(([name, value]) => ({
        namespace: 'AWS/SQS',
        name,
        dimensions,
        value,
      }));
    }),
};
const functions: Situation = {
  measure: () =>
    ['Resync', 'Fleet'].flatMap((scheduled) =>
      ['Invocations', 'Errors', 'Throttles'].map((name) => ({
        namespace: 'AWS/Lambda',
        name,
        dimensions: { FunctionName: `${scheduled}LambdaFunction` },
        value: name === 'Invocations' ? 1 : 0,
      })),
    ),
};

/** The day's datapoints. */
export function quietDay(): { readonly minutes: number; readonly data: readonly Datapoint[] } {
  const measured = new MeasuredFunctions();
  const data = Array.from({ length: DAY_MINUTES }, (_, minute) => {
    const troubles = TROUBLES.filter(([from, length]) => minute >= from && minute < from + length)
      .flatMap(([, , alarms]) => alarms)
      .flatMap((name) => SITUATIONS[name] ?? []);
    // What AWS says of a queue in trouble it says instead of the ordinary.
    const isQueueInTrouble = troubles.some((one) => 'measure' in one);
    const ordinary = [resync, ingest, functions, ...(isQueueInTrouble ? [] : [queues])];
    return [...ordinary, ...troubles].flatMap((one) => measured.play(one, minute));
  });
  return { minutes: DAY_MINUTES, data: data.flat() };
}
