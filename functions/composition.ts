/**
 * From environment to dependencies: what every handler is composed of, once per function and warm process.
 *
 * Clients and warm memory live here and nowhere else, so that a frozen function that wakes up finds
 * connections but never another tenant's request state (spec faults 30, 31). The embedded engine runs
 * these same handlers; it may only replace where logs and metrics go, and give each function the
 * credentials of its own role, which in Lambda are the process's.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../src/adapters/aws/create-client.ts';
import { createDocumentClient } from '../src/adapters/aws/document-client.ts';
import { createDynamoCredentialStore } from '../src/adapters/dynamodb/single-item-stores.ts';
import { withLaggingReads } from '../src/adapters/dynamodb/lagging-reads.ts';
import { createDynamoFreezeStore } from '../src/adapters/dynamodb/single-item-stores.ts';
import { createFunctionRegistryStore } from '../src/adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../src/adapters/dynamodb/view-store.ts';
import type { DynamoStoreOptions } from '../src/adapters/dynamodb/table.ts';
import { HttpsClusterConnector } from '../src/adapters/kubernetes/api/cluster-connector.ts';
import type { AwsCredentials } from '../src/adapters/kubernetes/credentials/token-source.ts';
import { createHintQueue, createHintReceipts } from '../src/adapters/sqs/hint-queue.ts';
import { installationOf } from '../src/core/may-act/installation.ts';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createMirrorMemory, type MirrorMemory } from '../src/app/fleet/notify/mirror-show.ts';
import {
  createIngestProcessCache,
  type IngestProcessCache,
} from '../src/app/ingest/process/dependencies.ts';
import { createProcessCache } from '../src/app/reconcile/process/process-cache.ts';
import type { ProcessCache } from '../src/app/reconcile/process/process-cache.ts';
import {
  createResyncProcessCache,
  type ResyncProcessCache,
} from '../src/app/resync/dependencies.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterConnector } from '../src/ports/cluster/cluster-access.ts';
import type { CredentialStore, Seal } from '../src/ports/stores/credential-store.ts';
import type { HintQueue, HintReceipts } from '../src/ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { RegistryRevisionStore } from '../src/ports/stores/fleet-rollout-store.ts';
import type { FreezeStore } from '../src/ports/stores/freeze-store.ts';
import type { FunctionRegistryStore } from '../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../src/ports/stores/view-store.ts';
import { EGRESS_VARIABLES, egressPolicy } from './egress-policy.ts';
import type { FunctionParts, HandlerContext } from './middleware.ts';

export interface Composition {
  readonly clock: Clock;
  readonly random: Random;
  /** Of the function's role. */
  readonly awsCredentials: () => Promise<AwsCredentials>;
  readonly registry: FunctionRegistryStore & RegistryRevisionStore;
  /** Of what one function alone keeps in the registry's table: it makes the store itself, so no other bundle holds it. */
  readonly registryTable: DynamoStoreOptions;
  readonly freezes: FreezeStore;
  readonly view: ViewStore;
  readonly queue: HintQueue;
  readonly receipts: HintReceipts;
  readonly connector: ClusterConnector & Pick<HttpsClusterConnector, 'connectTransport'>;
  readonly credentials: CredentialStore;
  /** Refuses everything in a function that has none. */
  readonly seal: Seal;
  readonly ingestProcessCache: IngestProcessCache;
  readonly processCache: ProcessCache;
  readonly resyncProcessCache: ResyncProcessCache;
  readonly mirrorMemory: MirrorMemory;
}

const VARIABLES = [
  'ROLLCALL_REGISTRY_TABLE',
  'ROLLCALL_VIEW_TABLE',
  'ROLLCALL_EVENTS_QUEUE_URL',
  'ROLLCALL_RECONCILE_QUEUE_URL',
  'ROLLCALL_DELAY_QUEUE_URL',
  'ROLLCALL_CREDENTIALS_KEY_ARN',
] as const;

type Variable = (typeof VARIABLES)[number];

/** The AWS credentials of a function. */
export type CredentialsOf = (functionName: string) => {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

interface Composed {
  readonly signature: string;
  readonly composition: Composition;
}

/** By function: several share a process in the embedded engine alone. */
const composed = new Map<string, Composed>();
let credentialsOf: CredentialsOf | undefined;
let replacedSeal: Seal | undefined;

/** Gives each function credentials of its own: for the embedded engine and for tests. */
export function useCredentials(replacement: CredentialsOf): void {
  credentialsOf = replacement;
}

/** Seals and opens by something else than KMS, which runs in no process of ours: for tests. */
export function useSeal(replacement: Seal | undefined): void {
  replacedSeal = replacement;
  composed.clear();
}

/**
 * The composition of a function in this process. Made again only when its environment changed, which
 * happens in the embedded engine alone. Throws when a variable is missing: that is a broken deployment.
 */
export function composition(
  { functionName, parts }: Pick<HandlerContext, 'functionName' | 'parts'>,
  environment: NodeJS.ProcessEnv = process.env,
): Composition {
  const settings = readSettings(environment);
  const signature = JSON.stringify(settings);
  const known = composed.get(functionName);
  if (known?.signature === signature) return known.composition;
  const made = compose(settings, parts, credentialsOf?.(functionName));
  composed.set(functionName, { signature, composition: made });
  return made;
}

type Settings = Readonly<Record<Variable, string>> & {
  readonly endpoints: readonly (string | undefined)[];
  readonly egress: ReturnType<typeof egressPolicy>;
  readonly installation: string | undefined;
};

function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const values = Object.fromEntries(
    VARIABLES.map((name) => {
      const value = environment[name];
      if (value === undefined || value === '') {
        throw new Error(`environment variable ${name} is not set: see serverless.yml`);
      }
      return [name, value];
    }),
  ) as Record<Variable, string>;
  const endpoints = [
    environment['AWS_ENDPOINT_URL_SQS'],
    environment['AWS_ENDPOINT_URL_DYNAMODB'],
    environment['AWS_ENDPOINT_URL_KMS'],
    environment['AWS_ENDPOINT_URL'],
  ];
  const egress = egressPolicy(
    Object.fromEntries(EGRESS_VARIABLES.map((name) => [name, environment[name]])),
  );
  // The embedded engine is told a name: its queue is another one at each start.
  const installation =
    environment['ROLLCALL_INSTALLATION'] ?? installationOf(values.ROLLCALL_EVENTS_QUEUE_URL);
  return { ...values, endpoints, egress, installation };
}

/** Of a function that connects to no cluster, and has no right to the key. */
const refusedSeal = {
  kind: 'refused',
  code: 'access-denied',
  message: 'this function opens no seals',
} as const;
const NO_SEAL: Seal = {
  seal: () => Promise.resolve(refusedSeal),
  open: () => Promise.resolve(refusedSeal),
};

function compose(
  settings: Settings,
  { makeSeal, connects, readsMayLag, fleetRequests }: FunctionParts,
  credentials: ReturnType<CredentialsOf> | undefined,
): Composition {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const options = credentials === undefined ? {} : { credentials };
  const client = createDocumentClient(options);
  const sqs = createAwsClient(SQSClient, CALL_LIMITS.function, options);
  const registryTable = { client, random, tableName: settings.ROLLCALL_REGISTRY_TABLE };
  // Freezes and tokens are read as they are: one that was renewed just now replaces one that ends.
  const freezes = createDynamoFreezeStore(registryTable);
  const tokens = createDynamoCredentialStore(registryTable);
  const stores = { random, client: readsMayLag === true ? withLaggingReads(client) : client };
  const keyArn = settings.ROLLCALL_CREDENTIALS_KEY_ARN;
  const seal = replacedSeal ?? makeSeal?.({ keyArn, ...options }) ?? NO_SEAL;
  const queues = {
    client: sqs,
    reconcileQueueUrl: settings.ROLLCALL_RECONCILE_QUEUE_URL,
    delayQueueUrl: settings.ROLLCALL_DELAY_QUEUE_URL,
    clock,
  };
  const awsCredentials: Composition['awsCredentials'] = () => sqs.config.credentials();
  return {
    clock,
    random,
    awsCredentials,
    registry: createFunctionRegistryStore({
      ...stores,
      tableName: registryTable.tableName,
      rivals: connects === 'act' ? 'shown' : 'left-out',
    }),
    registryTable,
    freezes,
    credentials: tokens,
    seal,
    view: createDynamoViewStore({ ...stores, tableName: settings.ROLLCALL_VIEW_TABLE }),
    queue: createHintQueue(queues),
    receipts: createHintReceipts(queues),
    connector: new HttpsClusterConnector({
      clock,
      awsCredentials,
      ...(connects === undefined
        ? {}
        : { sealedTokens: { credentials: tokens, seal, purpose: connects } }),
      egress: settings.egress,
      ...defined({ fleetRequests, installation: settings.installation }),
    }),
    ingestProcessCache: createIngestProcessCache(),
    processCache: createProcessCache(),
    resyncProcessCache: createResyncProcessCache(),
    mirrorMemory: createMirrorMemory(),
  };
}
