/**
 * What rings each alarm, by its name behind the stage, and a day on which none rings.
 *
 * What we measure ourselves is written through the adapter that is deployed, and read back from its lines, so that the
 * dimensions are those that CloudWatch would see; `code` is the file that writes this metric for that service. Queues,
 * functions and tables are measured by AWS: those datapoints are made here.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { createPowertoolsMetrics } from '../../../src/adapters/system/powertools-metrics.ts';
import type { MetricName } from '../../../src/ports/metrics.ts';
import type { ClusterTrouble } from '../../../src/core/hints/cluster-troubles.ts';
import type { PublishedMetrics } from '../../../src/adapters/system/powertools-metrics.ts';
import type { Datapoint } from './alarm-clock.ts';
import { metricsOfQueue, type QueueMinute } from './alarm-model.ts';
import { ofType, textOf, type Identified, type Template } from './template.ts';

/** The stage of the alarms that are judged. */
const STAGE = 'ring1';
const NAMESPACE = `Rollcall/${STAGE}`;

const DIRECTORY = path.join(repositoryRoot, 'infra/alarms');

/** The alarms of all files, by their names behind the stage. */
export function deployedAlarms(): ReadonlyMap<string, Identified> {
  const alarms = readdirSync(DIRECTORY).flatMap((file) => {
    const text = JSON.stringify(readYamlFile(path.join(DIRECTORY, file)));
    const template = JSON.parse(text.replaceAll('${sls:stage}', STAGE)) as Template;
    return ofType(template, 'AWS::CloudWatch::Alarm');
  });
  return new Map(
    alarms.map((alarm) => [
      textOf(alarm.properties['AlarmName']).replace(`rollcall-${STAGE}-`, ''),
      alarm,
    ]),
  );
}

/** A metric of ours, and one minute of what is the matter. */
interface OwnSituation {
  readonly service: string;
  readonly metric: MetricName;
  /** Where it is written. */
  readonly code: string;
  readonly write: (metrics: PublishedMetrics, metric: MetricName) => void;
}

/** What AWS measures, in one minute. */
interface AwsSituation {
  readonly measure: (minute: number) => readonly Omit<Datapoint, 'minute'>[];
}

/** What is the matter, every minute from its beginning on. */
export type Situation = OwnSituation | AwsSituation;

const counts = (outcome?: string): OwnSituation['write'] =>
  outcome === undefined
    ? (metrics, metric) => {
        metrics.count(metric);
      }
    : (metrics, metric) => {
        metrics.count(metric, { outcome });
      };

const own = (
  service: string,
  metric: MetricName,
  written: { readonly code: string; readonly write: OwnSituation['write'] },
): OwnSituation => ({ service, metric, ...written });

/** What begins in a cluster: the walk counts it. */
const troubles = (outcome: ClusterTrouble): OwnSituation =>
  own('resync', 'ClusterTroubles', { code: 'src/app/resync/resync.ts', write: counts(outcome) });

/** Whose messages are refused, and were not before. */
const refused = (service: string): OwnSituation =>
  own(service, 'RefusedSenders', { code: 'src/app/refusal/keep-refusal.ts', write: counts() });

/** A minute of a queue, as SQS reports it. */
function queue(id: string, minuteOf: (minute: number) => QueueMinute): AwsSituation {
  return {
    measure: (minute) =>
      Object.entries(metricsOfQueue(minuteOf(minute))).map(([name, value]) => ({
        namespace: 'AWS/SQS',
        name,
        dimensions: { QueueName: id },
        value,
      })),
  };
}

/** One message that nobody has received since the beginning, and which is so old by then. */
const waitingIn = (id: string, ageS: number): AwsSituation =>
  queue(id, (minute) => ({
    nowS: minute * 60,
    messages: [{ sentAtS: -ageS, receives: 0, isInFlight: false }],
    deleted: 1,
  }));

/** One message that is received once a minute, and never finished. */
const failingIn = (id: string): AwsSituation =>
  queue(id, (minute) => ({
    nowS: minute * 60,
    messages: [{ sentAtS: 0, receives: minute + 3, isInFlight: minute % 2 === 0 }],
    deleted: 0,
  }));

/** Of what is no count. */
const VALUES: Readonly<Record<string, number>> = { Duration: 55_000 };

const measured = (
  namespace: string,
  name: string,
  dimensions: Readonly<Record<string, string>>,
): AwsSituation => ({ measure: () => [{ namespace, name, dimensions, value: VALUES[name] ?? 1 }] });

/** By the name of the alarm behind the stage. */
export const SITUATIONS: Readonly<Record<string, readonly Situation[]>> = {
  'silent-clusters': [troubles('silent')],
  'never-heard-clusters': [troubles('never-heard')],
  'incomplete-views': [troubles('incomplete')],
  'silent-api-servers': [troubles('unreachable')],
  'cluster-refusals': [troubles('forbidden')],
  'egress-refusals': [troubles('egress-refused')],
  'token-faults': [troubles('no-token')],
  'troubled-clusters': [
    own('resync', 'TroubledClusters', {
      code: 'src/app/resync/resync.ts',
      write: (metrics) => {
        metrics.record('TroubledClusters', 7, 'Count');
        metrics.record('RegisteredClusters', 300, 'Count');
      },
    }),
  ],
  'credential-refusals': [refused('credential')],
  'conflicting-controllers': [
    own('reconcile', 'ConflictingControllers', {
      code: 'src/app/reconcile/confirm/rival.ts',
      write: counts('sentinel'),
    }),
    own('reconcile', 'ConflictingControllers', {
      code: 'src/app/reconcile/confirm/guard.ts',
      write: counts('sentinel-missing'),
    }),
  ],
  'fleet-faults': ['error', 'unreadable'].map((outcome) =>
    own('fleet', 'FleetSteps', {
      code: 'src/app/fleet/step/step-fleets.ts',
      write: counts(outcome),
    }),
  ),
  'fleet-halts': [
    own('fleet', 'FleetDecisions', {
      code: 'src/app/fleet/step/carry-out.ts',
      write: counts('halted'),
    }),
    own('fleet', 'FleetDecisions', {
      code: 'src/app/fleet/step/carry-out.ts',
      write: counts('held'),
    }),
    own('fleet', 'FleetDecisions', {
      code: 'src/app/fleet/step/step-fleets.ts',
      write: counts('unreadable'),
    }),
  ],
  'ingest-refusals': [refused('ingest')],
  'ingest-lag': [
    own('ingest', 'IngestLag', {
      code: 'src/app/ingest/ingest-message.ts',
      write: (metrics, metric) => {
        metrics.record(metric, 90_000, 'Milliseconds');
      },
    }),
  ],
  'set-hashes': [
    own('ingest', 'IngestSetHashAlarms', {
      code: 'src/app/ingest/message/request-snapshot.ts',
      write: counts(),
    }),
  ],
  'dead-letters': [
    own('dead-letter', 'DeadLetters', {
      code: 'src/app/dead-letter/dead-letter.ts',
      write: counts('events/exhausted'),
    }),
  ],
  'handler-failures': [
    'ingest',
    'reconcile',
    'requeue',
    'resync',
    'fleet',
    'credential',
    'dead-letter',
  ].map((service) =>
    own(service, 'HandlerFailures', {
      code: 'functions/middleware.ts',
      write: counts('TypeError'),
    }),
  ),
  'record-failures': ['ingest', 'reconcile', 'requeue', 'credential', 'dead-letter'].map(
    (service) => own(service, 'RecordFailures', { code: 'functions/records.ts', write: counts() }),
  ),
  'events-age': [waitingIn('EventsQueue', 180)],
  'reconcile-age': [waitingIn('ReconcileQueue', 360)],
  'delay-age': [waitingIn('DelayQueue', 1500)],
  'credentials-age': [waitingIn('CredentialsQueue', 1800)],
  'events-stuck': [failingIn('EventsQueue')],
  'reconcile-stuck': [failingIn('ReconcileQueue')],
  'delay-stuck': [failingIn('DelayQueue')],
  'credentials-stuck': [failingIn('CredentialsQueue')],
  'dead-letters-wait': ['Events', 'Reconcile', 'Delay', 'Credentials'].map((name) =>
    waitingIn(`${name}DeadLetterQueue`, 0),
  ),
  'function-errors': lambdas('Errors'),
  throttles: lambdas('Throttles'),
  // Nothing at all is measured of a function that nobody calls.
  'resync-stopped': [{ measure: () => [] }],
  'fleet-stopped': [{ measure: () => [] }],
  'fleet-timeouts': [measured('AWS/Lambda', 'Duration', { FunctionName: 'FleetLambdaFunction' })],
  'table-throttles': ['RegistryTable', 'ViewTable'].flatMap((TableName) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
      measured('AWS/DynamoDB', name, { TableName }),
    ),
  ),
};

function lambdas(name: string): readonly AwsSituation[] {
  return ['Ingest', 'Reconcile', 'Requeue', 'Resync', 'Fleet', 'Credential', 'DeadDashletter'].map(
    (prefix) => measured('AWS/Lambda', name, { FunctionName: `${prefix}LambdaFunction` }),
  );
}

/** Functions of one deployment, warm, and what they write to standard output. */
export class MeasuredFunctions {
  readonly #metrics = new Map<string, PublishedMetrics>();

  /** Runs one minute of a situation; CloudWatch's datapoints of it. */
  play(situation: Situation, minute: number): readonly Datapoint[] {
    if ('measure' in situation) {
      return situation.measure(minute).map((one) => ({ ...one, minute }));
    }
    const { service, metric, write } = situation;
    write(this.of(service), metric);
    return this.published(service, minute);
  }

  /** What a function of this service counts into. */
  of(service: string): PublishedMetrics {
    const metrics =
      this.#metrics.get(service) ?? createPowertoolsMetrics({ service, namespace: NAMESPACE });
    this.#metrics.set(service, metrics);
    return metrics;
  }

  /** The end of an invocation: CloudWatch's datapoints of it. */
  published(service: string, minute: number): readonly Datapoint[] {
    const lines = linesOf(() => {
      this.of(service).publish();
    });
    return lines.flatMap((line) => readEmbedded(line, minute));
  }
}

/** Lines that are written to standard output meanwhile; the test runner's own frames, which are bytes, pass. */
function linesOf(run: () => void): readonly string[] {
  const original = process.stdout.write.bind(process.stdout);
  let output = '';
  process.stdout.write = (chunk: string | Uint8Array, ...rest: never[]) => {
    if (typeof chunk !== 'string') return original(chunk, ...rest);
    output += chunk;
    return true;
  };
  try {
    run();
  } finally {
    process.stdout.write = original;
  }
  return output.split('\n').filter((line) => line.includes('"CloudWatchMetrics"'));
}

interface Embedded {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
  readonly [field: string]: unknown;
}

function readEmbedded(line: string, minute: number): readonly Datapoint[] {
  const embedded = JSON.parse(line) as Embedded;
  return embedded._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(embedded[name])]));
      return Metrics.flatMap(({ Name }) => {
        const values = [embedded[Name]].flat() as readonly number[];
        return values.map((value) => ({
          minute,
          namespace: Namespace,
          name: Name,
          dimensions,
          value,
        }));
      });
    }),
  );
}
