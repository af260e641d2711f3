// AWS in this process, as a serverless.yml declares it: queues, tables, mappings, schedules.
//
// Two steps, because handlers read their environment when they are loaded: `startLocalAws` starts the servers and
// says the environment; then the caller loads the handlers and gives them to `startMappings`. Assumes a service file
// that osls accepts. Everything binds loopback, which other users of the machine reach too: secrets are random, of this
// process, and every request must be signed. Its access key says who sends, and which role's rights it has. `stop` lets running invocations end, up to a bound; what is left is
// delivered again at the next start with the same data directory.
import path from 'node:path';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { createQueues } from './create-queues.ts';
import type { CreatedQueue } from '../event-source-mapping/declarations.ts';
import { takeDataDirectory, type DataDirectory } from './data-directory.ts';
import { createTables } from './create-tables.ts';
import { startDynamoDbServer } from '../dynamodb/server.ts';
import { startEventsServer } from '../events/server.ts';
import type { EventsServer } from '../events/server.ts';
import { arnsOf, tableArnOf } from './arns.ts';
import { Authorizer, type LocalCredentials } from '../iam/authorizer.ts';
import {
  functionAccessKey,
  grantFunctions,
  grantOperator,
  grantSenders,
  type LocalAccount,
  type LocalSenders,
} from './principals.ts';
import type { ConcurrencyLimits } from '../event-source-mapping/concurrency.ts';
import type { FaultOptions } from '../event-source-mapping/faults.ts';
import type { InvocationCounts, LambdaHandler } from '../event-source-mapping/invocation.ts';
import { MappedQueue } from '../event-source-mapping/mapped-queue.ts';
import { MappingSet, type EngineFailure } from '../event-source-mapping/mapping-set.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { localAccountId } from '../sqs/server/broker.ts';
import { startStsServer } from '../sts/server.ts';
import { startSqsServer } from '../sqs/server/server.ts';
import {
  readService,
  type EnvironmentValue,
  type ServiceDeclaration,
} from '../template/service.ts';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';

/** How the local AWS is set up. */
export interface LocalAwsOptions {
  readonly serverlessFile: string;
  readonly stage: string;
  /** Where everything survives a kill; in memory if absent. One that is held already stays held at the end. */
  readonly dataDirectory?: string | DataDirectory | undefined;
  /** Who may send messages from outside. */
  readonly senders?: LocalSenders | undefined;
  /** Disturbs deliveries, repeatably. */
  readonly faults?: (FaultOptions & { readonly seed: number }) | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told of everything that went wrong around a function; by default written to standard error. */
  readonly onFailure?: (failure: EngineFailure) => void;
}

/** A running local AWS. */
export interface LocalAws {
  readonly sqsEndpoint: string;
  readonly dynamodbEndpoint: string;
  /** Its one bus is `default`, as in every account; what was put on it can be read back. */
  readonly bus: EventsServer;
  readonly region: string;
  /** By logical id. */
  readonly queueUrls: Readonly<Record<string, string>>;
  /** By logical id. */
  readonly tableNames: Readonly<Record<string, string>>;
  /**
   * What the functions' environment must hold before their handlers are loaded. Its credentials are those of
   * the deploying user; functions get their own from `credentialsOf`.
   */
  readonly environment: Readonly<Record<string, string>>;
  readonly counts: Readonly<InvocationCounts>;
  /** The secret and the rights of every access key; a test may change the latter. */
  readonly authorizer: Authorizer;
  /** The credentials of the deploying user. */
  readonly operator: LocalCredentials;
  /** The credentials of a function's role. */
  readonly credentialsOf: (functionName: string) => LocalCredentials;
  /** Starts the declared mappings and schedules. Every declared function needs a handler. */
  startMappings(handlers: Readonly<Record<string, LambdaHandler>>): void;
  /** The account's places for invocations: a test may take them away (throttles). */
  readonly limits: ConcurrencyLimits;
  /** Disables the mappings of a function; resolves when what is in work has ended. Messages stay in their queues. */
  disableMappings(functionName: string): Promise<void>;
  /** Enables them again. */
  enableMappings(functionName: string): void;
  /** Fires the schedules of a function now; resolves when it has ended. */
  fireSchedule(functionName: string): Promise<void>;
  /** Stops everything, once. `waitMs` bounds the wait for running invocations. */
  stop(options?: { readonly waitMs?: number }): Promise<void>;
}

const stopWaitMs = 10_000;
/**
 * There is none here: a client that wants to open a seal is refused a connection, and never asks AWS itself.
 */
const NO_KEY_SERVICE = 'http://127.0.0.1:1';

/** Starts queues and tables; mappings start with `startMappings`. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  const { dataDirectory } = options;
  const clock = options.clock ?? createSystemClock();
  const random = options.random ?? createSystemRandom();
  const service = readService(options.serverlessFile, options.stage);
  const held = typeof dataDirectory === 'string' ? holdAlone(dataDirectory) : dataDirectory;
  const inData = (name: string): string | undefined => held && path.join(held.path, name);
  const authorizer = new Authorizer();
  const operator = grantOperator(authorizer, localAccountId);
  const newId = (): string => random.uniqueId();
  const { region } = service;
  const sqs = await startSqsServer({
    ...{ clock, newId, region, authorizer },
    dataDirectory: inData('sqs'),
    senderIds: options.senders?.ids,
  });
  const dynamoDb = await startDynamoDbServer({
    dataDirectory: inData('dynamodb'),
    guard: { authorizer, arnOf: (name) => tableArnOf(service, name) },
  });
  const bus = await startEventsServer({ clock, newId, region, authorizer });
  const sts = await startStsServer({ authorizer, newId });
  const clients = createClients(region, { sqs, dynamoDb }, operator);
  await createTables(clients.dynamoDb, service.tables);
  const queues = await createQueues(clients.sqs, service.queues);
  const account: LocalAccount = {
    service,
    accountId: localAccountId,
    arnOf: arnsOf(service, queues),
  };
  grantFunctions(authorizer, account);
  if (options.senders !== undefined) grantSenders(authorizer, options.senders, account);
  const { faults } = options;
  const mappings = new MappingSet({
    service,
    queues,
    polledBy: (name, { url: queueUrl }) =>
      new MappedQueue({
        ...{ service: sqs.service, queueUrl },
        accessKey: functionAccessKey(name),
      }),
    ...{ clock, newId, faults },
    random: faults === undefined ? random : seededRandom(faults.seed),
    onFailure: options.onFailure ?? writeFailure,
  });
  const stopOnce = async (waitMs: number): Promise<void> => {
    await mappings.stop(waitMs);
    clients.destroy();
    for (const server of [sqs, dynamoDb, bus, sts]) await server.stop();
    if (held !== dataDirectory) held?.release();
  };
  let stopped: Promise<void> | undefined;
  return {
    sqsEndpoint: sqs.endpoint,
    dynamodbEndpoint: dynamoDb.endpoint,
    bus,
    region,
    queueUrls: Object.fromEntries([...queues.values()].map(({ id, url }) => [id, url])),
    tableNames: Object.fromEntries(service.tables.map(({ id, name }) => [id, name])),
    environment: {
      ...resolveEnvironment(account, queues),
      ...sdkEnvironment(service, { sqs, dynamoDb, bus, sts }, operator),
    },
    ...controlsOf(mappings),
    authorizer,
    operator,
    credentialsOf: (functionName) => authorizer.credentialsOf(functionAccessKey(functionName)),
    stop: ({ waitMs = stopWaitMs } = {}) => (stopped ??= stopOnce(waitMs)),
  };
}

function holdAlone(directory: string): DataDirectory {
  const taken = takeDataDirectory(directory);
  if (taken.kind === 'held') return taken;
  if (taken.kind === 'former') throw new Error(`${directory} is of a release before.`);
  if (taken.kind === 'exposed') throw new Error(`The data directory ${directory} ${taken.how}.`);
  throw new Error(`The data directory ${directory} is in use by process ${taken.processId}.`);
}

/** What the process that started it may do with the mappings. */
function controlsOf(mappings: MappingSet) {
  return {
    counts: mappings.counts,
    limits: mappings.limits,
    startMappings: (handlers: Readonly<Record<string, LambdaHandler>>) => {
      mappings.start(handlers);
    },
    disableMappings: (functionName: string) => mappings.disable(functionName),
    enableMappings: (functionName: string) => {
      mappings.enable(functionName);
    },
    fireSchedule: (functionName: string) => mappings.fireSchedule(functionName),
  };
}

/** Where the SDK finds the local AWS, and as whom it signs unless it is told otherwise. */
function sdkEnvironment(
  { region }: ServiceDeclaration,
  servers: Readonly<Record<'sqs' | 'dynamoDb' | 'bus' | 'sts', { readonly endpoint: string }>>,
  { accessKeyId, secretAccessKey }: LocalCredentials,
): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_SQS: servers.sqs.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: servers.dynamoDb.endpoint,
    AWS_ENDPOINT_URL_EVENTBRIDGE: servers.bus.endpoint,
    AWS_ENDPOINT_URL_STS: servers.sts.endpoint,
    AWS_ENDPOINT_URL_KMS: NO_KEY_SERVICE,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/** The provider's environment, with what references stand for: a queue's URL, a table's name, an ARN. */
function resolveEnvironment(
  { service, arnOf }: LocalAccount,
  queues: ReadonlyMap<string, CreatedQueue>,
): Record<string, string> {
  const tables = new Map(service.tables.map((table) => [table.id, table.name]));
  const textOf = (value: EnvironmentValue): string | undefined => {
    if (typeof value === 'string') return value;
    if ('arnOf' in value) return arnOf(value.arnOf);
    return queues.get(value.Ref)?.url ?? tables.get(value.Ref);
  };
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(service.environment)) {
    const text = textOf(value);
    if (text === undefined) throw new Error(`${name} refers to nothing that exists here`);
    resolved[name] = text;
  }
  return resolved;
}

function writeFailure(failure: EngineFailure): void {
  const { functionName, queueName = 'schedule', message, error } = failure;
  const cause = error instanceof Error ? `: ${error.stack ?? error.message}` : '';
  process.stderr.write(`local AWS: ${functionName} (${queueName}): ${message}${cause}\n`);
}

const REQUEST_MS_MAX = 30_000;
const LIMITS = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: REQUEST_MS_MAX,
    throwOnRequestTimeout: true,
    socketTimeout: REQUEST_MS_MAX,
  },
};

/** The SDK's clients over the local endpoints. */
interface Clients {
  readonly sqs: SQSClient;
  readonly dynamoDb: DynamoDBClient;
  readonly destroy: () => void;
}

/** Opens the clients; `destroy` closes both. */
function createClients(
  region: string,
  servers: Readonly<Record<'sqs' | 'dynamoDb', { readonly endpoint: string }>>,
  credentials: LocalCredentials,
): Clients {
  const common = { ...LIMITS, region, credentials };
  // eslint-disable-next-line no-restricted-syntax -- limited above; the helper of src is not for stand-ins
  const sqs = new SQSClient({ ...common, endpoint: servers.sqs.endpoint });
  // eslint-disable-next-line no-restricted-syntax -- limited above
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: servers.dynamoDb.endpoint });
  return {
    sqs,
    dynamoDb,
    destroy: () => {
      sqs.destroy();
      dynamoDb.destroy();
    },
  };
}
