/** Rules about functions: what they run on, who may call them, what they keep, and where they may connect to. */
import { SUFFIXES_CHARACTERS_MAX } from '../../../scripts/osls/check-parameters.mjs';
import { alternatives, at, isMap, listOf, ofType, referredId, textOf } from './template.ts';
import type { Rule } from './template.ts';

/** protocol 23: its visibility is a cluster's lag after a crash. */
const INGEST_TIMEOUT_S_MAX = 10;
const RETENTION_DAYS_MAX = 400;
/** Everything that a function is told. Nothing among it relaxes a check but the stage `local`. */
const ENVIRONMENT = [
  'POWERTOOLS_METRICS_NAMESPACE',
  'POWERTOOLS_SERVICE_NAME',
  'ROLLCALL_CREDENTIALS_KEY_ARN',
  'ROLLCALL_DELAY_QUEUE_URL',
  'ROLLCALL_ENDPOINT_SUFFIXES',
  'ROLLCALL_EVENTS_QUEUE_URL',
  'ROLLCALL_EVENT_BUS_NAME',
  'ROLLCALL_RECONCILE_QUEUE_URL',
  'ROLLCALL_REGISTRY_TABLE',
  'ROLLCALL_STAGE',
  'ROLLCALL_VIEW_TABLE',
];
/** What a stack is made of. Nothing here can be reached from outside but queues, and they are judged by their policies. */
const TYPES = new Set([
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::Role',
  'AWS::KMS::Key',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
]);
/** Functions that connect to clusters; the others stay outside of a VPC. */
const CONNECTING = [
  'FleetLambdaFunction',
  'IngestLambdaFunction',
  'ReconcileLambdaFunction',
  'ResyncLambdaFunction',
];

const runtime: Rule = {
  name: 'functions run on Node 24 and arm64, from one bundle each, within their time',
  check: (template) =>
    ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const { Runtime, Architectures, Handler, Timeout, MemorySize } = properties;
      const isIngest = id === 'IngestLambdaFunction';
      // It is called by a schedule alone, and holds no message; a rule of alarms bounds it.
      const timeoutMax = id === 'FleetLambdaFunction' ? 60 : 30;
      const isBundle = /^dist\/functions\/[a-z-]+\/handler\.handler$/.test(textOf(Handler));
      return [
        ...(Runtime === 'nodejs24.x' ? [] : [`${id} on ${textOf(Runtime)}`]),
        ...(JSON.stringify(Architectures) === '["arm64"]' ? [] : [`${id} is not on arm64`]),
        ...(isBundle ? [] : [`${id} from ${textOf(Handler)}`]),
        ...(Number(Timeout) <= timeoutMax
          ? []
          : [`${id} may hold its messages for ${textOf(Timeout)} s`]),
        ...(isIngest && Number(Timeout) > INGEST_TIMEOUT_S_MAX ? [`${id}: protocol 23`] : []),
        ...(Number(MemorySize) >= 256 ? [] : [`${id} has too little memory`]),
      ];
    }),
};

const logs: Rule = {
  name: 'every function has a log group of its own that forgets, and writes JSON',
  check: (template) => {
    const groups = ofType(template, 'AWS::Logs::LogGroup');
    const eternal = groups.filter(({ properties }) => {
      const days = Number(properties['RetentionInDays']);
      return !(days >= 1 && days <= RETENTION_DAYS_MAX);
    });
    const faults = ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const name = `/aws/lambda/${textOf(properties['FunctionName'])}`;
      const has = groups.some((group) => group.properties['LogGroupName'] === name);
      const format = at(properties, 'LoggingConfig', 'LogFormat');
      const level = at(properties, 'LoggingConfig', 'ApplicationLogLevel');
      return [
        ...(has ? [] : [`${id} has none`]),
        ...(format === 'JSON' ? [] : [`${id} logs text`]),
        // Metrics are log lines of this level.
        ...(level === 'INFO' || level === 'DEBUG' ? [] : [`${id} loses its metrics`]),
      ];
    });
    return [...eternal.map(({ id }) => `${id} keeps everything`), ...faults];
  },
};

const noEndpoint: Rule = {
  name: 'there is no public endpoint, nor anything of a kind that nobody has judged',
  check: (template) => {
    const unknown = Object.entries(template.Resources)
      .filter(([, { Type }]) => !TYPES.has(Type))
      .map(([id, { Type }]) => `${id}: ${Type}`);
    const callable = ofType(template, 'AWS::Lambda::Permission').filter(({ properties }) => {
      const source = referredId(properties['SourceArn']) ?? '';
      const isScheduled = template.Resources[source]?.Type === 'AWS::Events::Rule';
      return properties['Principal'] !== 'events.amazonaws.com' || !isScheduled;
    });
    return [...unknown, ...callable.map(({ id }) => `${id} lets others call`)];
  },
};

const egress: Rule = {
  name: 'checks of endpoints and senders are relaxed at stage local alone: ROLLCALL_STAGE is the stage',
  check: (template, stage) =>
    ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const variables = at(properties, 'Environment', 'Variables');
      const names = isMap(variables) ? Object.keys(variables).sort() : [];
      const extra = names.filter((name) => !ENVIRONMENT.includes(name));
      const told = at(variables, 'ROLLCALL_STAGE');
      return [
        ...extra.map((name) => `${id} is told ${name}`),
        ...(told === stage ? [] : [`${id} believes to be at ${textOf(told)}`]),
      ];
    }),
};

/** Of Lambda, names and values together. */
const ENVIRONMENT_BYTES_MAX = 4096;
/** Longer than any address of a queue, ARN of a key or name of a table can be. */
const REFERENCE_BYTES = 256;

const smallEnvironment: Rule = {
  name: 'the environment of a function fits into 4 KB with the longest parameters (F16)',
  check: (template) =>
    ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const variables = at(properties, 'Environment', 'Variables');
      const bytes = Object.entries(isMap(variables) ? variables : {}).map(([name, value]) => {
        const bound = name === 'ROLLCALL_ENDPOINT_SUFFIXES' ? SUFFIXES_CHARACTERS_MAX : 0;
        const own = typeof value === 'string' ? Buffer.byteLength(value) : REFERENCE_BYTES;
        return name.length + Math.max(own, bound);
      });
      const total = bytes.reduce((sum, one) => sum + one, 0);
      return total <= ENVIRONMENT_BYTES_MAX ? [] : [`${id}: ${String(total)} bytes`];
    }),
};

const network: Rule = {
  name: 'functions that connect to clusters, and no others, can be put into a VPC',
  check: (template) =>
    ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const config = properties['VpcConfig'];
      if (!CONNECTING.includes(id)) return config === undefined ? [] : [`${id} needs no network`];
      const condition = listOf(at(config, 'Fn::If'))[0];
      const isOptional = condition === 'InNetwork' && alternatives(config ?? null).length === 1;
      return isOptional ? [] : [`${id} cannot be put into one, or must be`];
    }),
};

const bucket: Rule = {
  name: 'the bucket of deployments is private and encrypted',
  check: (template) => {
    const open = ofType(template, 'AWS::S3::Bucket').filter(({ properties }) => {
      const block = properties['PublicAccessBlockConfiguration'];
      const isBlocked =
        isMap(block) && Object.values(block).filter((one) => one === true).length === 4;
      return !isBlocked || !('BucketEncryption' in properties);
    });
    const allowing = ofType(template, 'AWS::S3::BucketPolicy').filter(({ properties }) =>
      listOf(at(properties, 'PolicyDocument', 'Statement')).some(
        (statement) => at(statement, 'Effect') !== 'Deny',
      ),
    );
    return [...open, ...allowing].map(({ id }) => id);
  },
};

/** All of them. */
export const functionRules: readonly Rule[] = [
  runtime,
  logs,
  noEndpoint,
  egress,
  smallEnvironment,
  network,
  bucket,
];
