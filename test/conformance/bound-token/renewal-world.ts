/**
 * Everything that a bound token passes: a real API server with exactly infra/renewer's rights, the renewer's process,
 * MiniStack's KMS, SQS and DynamoDB, the deployed handler, a connector.
 *
 * One at a time in a process: the handler reads its environment. Queue records carry the SenderId that MiniStack
 * gives (its account id): the registration names it, and no check is relaxed for it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse } from 'aws-lambda';
import { useSinks, type LambdaFunction } from '../../../functions/middleware.ts';
import { createDynamoCredentialStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createKmsSeal } from '../../../src/adapters/kms/seal.ts';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import type {
  CredentialStore,
  Seal,
  TokenPurpose,
} from '../../../src/ports/stores/credential-store.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';
import { startMiniStack } from '../aws/reference-servers.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { createKeyTable } from '../../support/create-key-table.ts';

/** MiniStack's account, which it also names as every sender. */
export const SENDER = '000000000000';
const REGION = 'us-east-1';
const TABLE = 'rollcall-test-registry';

export interface Renewed {
  readonly exitCode: number | null;
  readonly output: string;
}

export interface RenewalWorld {
  readonly admin: ApiClient;
  readonly uid: string;
  readonly registry: RegistryStore;
  readonly credentials: CredentialStore;
  readonly seal: Seal;
  readonly log: MemoryLog;
  readonly metrics: MemoryMetrics;
  /** A connector with nothing warm. */
  readonly newConnector: (purpose?: TokenPurpose) => ClusterConnector;
  readonly registered: () => ClusterRegistration;
  /** Runs the renewer's process under a token of a service account. */
  readonly renew: (token: string, settings?: Readonly<Record<string, string>>) => Promise<Renewed>;
  /** Takes every message off the queue and gives them to the handler. */
  readonly deliver: () => Promise<readonly string[]>;
  /** The stored item as text. */
  readonly itemText: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

interface OpenedAws {
  readonly keyArn: string;
  readonly queueUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly kms: KMSClient;
  readonly sqs: SQSClient;
  readonly dynamo: ReturnType<typeof createDocumentClient>;
}

/** Makes the key, the queue and the table, and puts them into the environment of the handler. */
async function openAws(endpoint: string): Promise<OpenedAws> {
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  Object.assign(process.env, environment);
  const [kms, sqs, dynamo] = [new KMSClient({}), new SQSClient({}), createDocumentClient()];
  const key = await kms.send(new CreateKeyCommand({}));
  const keyArn = key.KeyMetadata?.Arn ?? '';
  const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'c' }));
  await createKeyTable(dynamo, TABLE);
  Object.assign(process.env, {
    ROLLCALL_STAGE: 'local',
    ROLLCALL_REGISTRY_TABLE: TABLE,
    ROLLCALL_VIEW_TABLE: 'unused',
    ROLLCALL_EVENTS_QUEUE_URL: 'unused',
    ROLLCALL_RECONCILE_QUEUE_URL: 'unused',
    ROLLCALL_DELAY_QUEUE_URL: 'unused',
    ROLLCALL_CREDENTIALS_KEY_ARN: keyArn,
  });
  return { keyArn, queueUrl, environment, kms, sqs, dynamo };
}

/** Starts it. */
export async function startRenewalWorld(): Promise<RenewalWorld> {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-bound-token-'));
  const [controlPlane, aws] = await Promise.all([
    startControlPlane({ loops: 'off', auditLog: false }),
    startMiniStack(),
  ]);
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  const manifests = [
    'infra/functions/rbac.yaml',
    'infra/functions/requests/rbac.yaml',
    'infra/renewer/rbac.yaml',
  ];
  await applyFiles(admin, manifests.map(repositoryPath));
  const uid = await identityOf(admin);
  const caFile = path.join(directory, 'ca.crt');
  writeFileSync(caFile, controlPlane.caPem);
  const { keyArn, queueUrl, environment, kms, sqs, dynamo } = await openAws(aws.endpoint);
  const table = { client: dynamo, random: createSystemRandom(), tableName: TABLE };
  const credentials = createDynamoCredentialStore(table);
  const seal = createKmsSeal({ client: kms, keyArn });
  const sinks = { log: new MemoryLog(), metrics: new MemoryMetrics() };
  useSinks(sinks);
  const { handler } = await import('../../../functions/credential/handler.ts');
  return {
    ...sinks,
    admin,
    uid,
    registry: createDynamoRegistryStore(table),
    credentials,
    seal,
    newConnector: (purpose = 'act') =>
      new HttpsClusterConnector({
        clock: createSystemClock({ timers: 'unreferenced' }),
        sealedTokens: { credentials, seal, purpose },
        egress: { loopback: 'allowed' },
      }),
    registered: () => registrationOf(controlPlane, uid),
    renew: (token, settings = {}) => {
      const tokenFile = path.join(directory, 'token');
      writeFileSync(tokenFile, token, { mode: 0o600 });
      return runRenewer({
        ...environment,
        ROLLCALL_CLUSTER: 'west',
        ROLLCALL_CREDENTIALS_QUEUE_URL: queueUrl,
        ROLLCALL_CREDENTIALS_KEY_ARN: keyArn,
        ROLLCALL_API_SERVER: controlPlane.server,
        ROLLCALL_CA_FILE: caFile,
        ROLLCALL_TOKEN_FILE: tokenFile,
        ...settings,
      });
    },
    deliver: () => deliverAll(sqs, queueUrl, handler),
    itemText: async () => {
      const Key = { pk: { S: 'CREDENTIAL#west' }, sk: { S: 'TOKEN' } };
      const found = await dynamo.send(new GetItemCommand({ TableName: TABLE, Key }));
      return JSON.stringify(found.Item);
    },
    stop: async () => {
      admin.close();
      for (const client of [kms, sqs, dynamo]) client.destroy();
      await Promise.all([controlPlane.stop(), aws.stop()]);
      rmSync(directory, { recursive: true });
    },
  };
}

function registrationOf(
  { server, caPem }: Pick<ControlPlane, 'server' | 'caPem'>,
  uid: string,
): ClusterRegistration {
  return {
    id: clusterId('west'),
    clusterUid: clusterUid(uid),
    mode: 'observe',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: 'AROAWATCHER',
    server,
    caPem,
    authentication: { kind: 'bound-token', renewerRoleId: SENDER },
    labels: {},
  };
}

async function identityOf(admin: ApiClient): Promise<string> {
  const path = '/api/v1/namespaces/kube-system';
  return pollUntil({ deadlineMs: 120_000, description: 'kube-system' }, async () => {
    const found = await admin.request({ method: 'GET', path });
    const { metadata } = found.body as { readonly metadata?: { readonly uid?: string } };
    return found.status === 200 ? metadata?.uid : undefined;
  });
}

function runRenewer(environment: Readonly<Record<string, string>>): Promise<Renewed> {
  const program = [repositoryPath('src/watcher/main.ts'), 'renew-credential'];
  const child = spawn(process.execPath, program, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => {
      resolve({ exitCode, output });
    });
  });
}

type Handler = LambdaFunction<never, SQSBatchResponse>;

/** As the event-source mapping would; answers the bodies. */
async function deliverAll(
  sqs: SQSClient,
  QueueUrl: string,
  handler: Handler,
): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages: messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['SenderId', 'SentTimestamp'],
      }),
    );
    if (messages.length === 0) return bodies;
    const Records = messages.map((message) => ({
      messageId: message.MessageId,
      body: message.Body,
      attributes: message.Attributes,
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:c',
    }));
    const context = {
      functionName: 'credential',
      awsRequestId: 'request',
      getRemainingTimeInMillis: () => 10_000,
    } as unknown as Context; // what the stack reads of Lambda's context
    const { batchItemFailures } = await handler({ Records } as never, context);
    if (batchItemFailures.length > 0) throw new Error('a message comes again');
    for (const { ReceiptHandle, Body } of messages) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      bodies.push(Body ?? '');
    }
  }
}
