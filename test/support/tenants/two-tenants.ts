/**
 * Two tenants, alpha and beta, on one Rollcall: the deployed handlers, local queues whose SenderId comes
 * from the access key, local tables, and for each tenant an API server that is scripted and counts.
 *
 * Both are in mode observe, and yet have a credential: `ingest` may reach their API servers (Lease,
 * snapshot requests), `reconcile` has nothing to write there, so a quiet tenant is really quiet. What
 * their watchers say is written by hand (scripted-sender.ts).
 */
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterId, ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import {
  SERVERLESS_FILE,
  STAGE,
  WATCHER_SENDERS,
  openStores,
} from '../../../src/engine/engine-stores.ts';
import { loadHandlers } from '../../../src/engine/handlers.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { answerJson, startScriptedApiServer, statusBody } from '../scripted-api-server.ts';
import type { ScriptedApiServer, Script } from '../scripted-api-server.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../scripted-sender.ts';

export interface Tenant {
  readonly id: ClusterId;
  readonly uid: ClusterUid;
  /** With what its watcher signs. */
  readonly accessKey: string;
  readonly roleId: string;
  readonly token: string;
  readonly api: ScriptedApiServer;
  readonly sender: ScriptedSender;
}

/** A message on its way to events.fifo, or another queue. */
export interface Sending {
  readonly accessKey: string;
  readonly body: string;
  readonly groupId: string;
  /** Logical id; default EventsQueue. */
  readonly queue?: string;
}

/** Everything that runs. */
export interface TwoTenants {
  readonly aws: LocalAws;
  readonly metrics: MemoryMetrics;
  readonly registry: RegistryStore;
  readonly view: ViewStore;
  readonly alpha: Tenant;
  readonly beta: Tenant;
  readonly send: (sending: Sending) => Promise<void>;
  /** As the tenant's own watcher, in its own group. */
  readonly sendAs: (tenant: Tenant, message: WatcherMessage) => Promise<void>;
  /** Every item of both tables, as stored. */
  readonly items: () => Promise<readonly StoredEntry[]>;
  readonly stop: () => Promise<void>;
}

/** An item as it is stored. */
export interface StoredEntry {
  readonly table: string;
  readonly partition: string;
  readonly item: unknown;
}

const WAIT_MS = 120_000;
const LOOK_EVERY_MS = 10;

/** Waits in real time, because servers answer in it; rejects after two minutes. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const startMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startMs > WAIT_MS) throw new Error(`not reached: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** An API server that knows its identity and nothing else. */
export function emptyCluster(uid: string): Script {
  return (request, response) => {
    if (request.path === '/api/v1/namespaces/kube-system') {
      const metadata = { name: 'kube-system', uid, resourceVersion: '4' };
      answerJson(response, { status: 200, body: { metadata } });
      return;
    }
    const name = request.path.split('?')[0]?.split('/').at(-1) ?? '';
    answerJson(response, { status: 404, body: statusBody(404, 'NotFound', { name }) });
  };
}

async function openTenant(name: string, token: string): Promise<Tenant> {
  const uid = clusterUid(`uid-of-${name}`);
  const api = await startScriptedApiServer();
  api.answerWith(emptyCluster(uid));
  const sender = new ScriptedSender({ cluster: name, epoch: '5000' });
  sender.know([nodeOf(`${name}-n1`), daemonSetOf(`${name}-agent`)]);
  const accessKey = `WATCHER${name.toUpperCase()}`;
  return { id: clusterId(name), uid, accessKey, roleId: `AROA${accessKey}`, token, api, sender };
}

function registrationOfTenant(tenant: Tenant): ClusterRegistration {
  return {
    id: tenant.id,
    clusterUid: tenant.uid,
    mode: 'observe',
    isFrozen: false,
    configVersion: 0,
    senderRoleId: tenant.roleId,
    server: tenant.api.url,
    caPem: tenant.api.caPem,
    authentication: { kind: 'bearer', token: tenant.token },
    labels: {},
  };
}

function createSender(aws: LocalAws): {
  readonly send: TwoTenants['send'];
  readonly destroy: () => void;
} {
  const clients = new Map<string, SQSClient>();
  let sends = 0;
  const clientOf = (accessKeyId: string): SQSClient => {
    const known = clients.get(accessKeyId);
    const client =
      known ??
      new SQSClient({
        region: aws.region,
        endpoint: aws.sqsEndpoint,
        maxAttempts: 1,
        credentials: aws.authorizer.credentialsOf(accessKeyId),
      });
    clients.set(accessKeyId, client);
    return client;
  };
  return {
    send: async ({ accessKey, body, groupId, queue = 'EventsQueue' }) => {
      sends += 1;
      const url = aws.queueUrls[queue] ?? '';
      const fifo = { MessageGroupId: groupId, MessageDeduplicationId: `sent-${String(sends)}` };
      await clientOf(accessKey).send(
        new SendMessageCommand({
          QueueUrl: url,
          MessageBody: body,
          ...(url.endsWith('.fifo') ? fifo : {}),
        }),
      );
    },
    destroy: () => {
      for (const client of clients.values()) client.destroy();
    },
  };
}

/** Starts everything: both are registered, and both views complete. */
export async function startTwoTenants(options: {
  readonly log: Log;
  readonly tokens?: { readonly alpha: string; readonly beta: string };
  /** Queues are kept there too, so that every body that was ever sent can be read. */
  readonly dataDirectory?: string;
}): Promise<TwoTenants> {
  const metrics = new MemoryMetrics();
  const alpha = await openTenant('alpha', options.tokens?.alpha ?? 'token-of-alpha');
  const beta = await openTenant('beta', options.tokens?.beta ?? 'token-of-beta');
  const ids = new Map(
    [alpha, beta].map(({ accessKey, roleId }) => [accessKey, `${roleId}:session`]),
  );
  const aws = await startLocalAws({
    serverlessFile: SERVERLESS_FILE,
    stage: STAGE,
    senders: { ids, ...WATCHER_SENDERS },
    dataDirectory: options.dataDirectory,
    onFailure: ({ message, error }) => {
      options.log.error(message, {}, error);
    },
  });
  Object.assign(process.env, aws.environment);
  const { registry, view, destroy } = openStores(aws);
  const dynamo = new DynamoDBClient({});
  const { send, destroy: destroyClients } = createSender(aws);
  const sendAs: TwoTenants['sendAs'] = ({ accessKey, id }, message) =>
    send({ accessKey, body: encodeWatcherMessage(message), groupId: id });
  for (const tenant of [alpha, beta]) {
    const written = await registry.writeCluster(registrationOfTenant(tenant), 0);
    if (written !== 'written') throw new Error(`${tenant.id} was not registered: ${written}`);
  }
  const sinks = { log: options.log, metrics };
  aws.startMappings(await loadHandlers({ sinks, credentialsOf: aws.credentialsOf }));
  for (const tenant of [alpha, beta]) {
    for (const message of tenant.sender.snapshot()) await sendAs(tenant, message);
    await waitUntil(
      async () => (await view.readMeta(tenant.uid))?.isComplete === true,
      `the view of ${tenant.id}`,
    );
  }
  await waitUntil(() => metrics.sum('ReconcileRuns') >= 2, 'a first look at each DaemonSet');
  return {
    aws,
    metrics,
    registry,
    view,
    alpha,
    beta,
    send,
    sendAs,
    items: () => scanAll(dynamo, Object.values(aws.tableNames)),
    stop: async () => {
      await aws.stop();
      destroy();
      dynamo.destroy();
      destroyClients();
      await Promise.all([alpha.api.close(), beta.api.close()]);
    },
  };
}

async function scanAll(
  client: DynamoDBClient,
  tables: readonly string[],
): Promise<readonly StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (const table of tables) {
    let start: Record<string, never> | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName: table,
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      for (const item of page.Items ?? []) {
        entries.push({ table, partition: item['pk']?.S ?? '', item });
      }
      start = page.LastEvaluatedKey as typeof start;
    } while (start !== undefined);
  }
  return entries;
}
