/**
 * The deployed handlers, each under its own role, on local queues and tables: invoked one at a time, as
 * Lambda would, and every decision about a right is noted.
 *
 * No mapping runs: a test is the event source. One API server answers for all clusters, by their token.
 */
import { useSeal } from '../../../functions/composition.ts';
import type { Context, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { AuthorizationRequest } from '@rollcall/local-aws/iam/authorizer.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { SqsError } from '@rollcall/local-aws/sqs/queue/errors.ts';
import {
  SERVERLESS_FILE,
  STAGE,
  WATCHER_SENDERS,
  openStores,
} from '../../../src/engine/engine-stores.ts';
import { loadHandlers } from '../../../src/engine/handlers.ts';
import { SENTINEL_KEY } from '../../../src/core/may-act/takeover-sentinel.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';
import { LocalSeal } from '../local-seal.ts';
import { MemoryLog, type LogLine } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { answerJson, startScriptedApiServer, statusBody } from '../scripted-api-server.ts';
import type { ScriptedApiServer } from '../scripted-api-server.ts';
import { liveSentinel } from './standing-sentinel.ts';

export interface Decided {
  readonly accessKey: string;
  readonly action: string;
  readonly resourceArn: string;
  readonly leadingKeys: readonly string[];
  readonly isAllowed: boolean;
}

/** One record of an event, as short as a test wants to write it. */
export interface RecordOf {
  readonly body: string;
  readonly group?: string;
  readonly senderId?: string;
}

/** What came of an invocation. */
export interface Invoked {
  /** Index of the records that come again. */
  readonly failed: readonly number[];
  readonly thrown: unknown;
}

/** Everything that runs. */
export interface FunctionWorld {
  readonly aws: LocalAws;
  readonly registry: RegistryStore;
  readonly view: ViewStore;
  readonly log: MemoryLog;
  readonly metrics: MemoryMetrics;
  readonly api: ScriptedApiServer;
  /** In place of KMS, for every function. */
  readonly seal: LocalSeal;
  readonly decisions: Decided[];
  /** Registers a cluster that nobody has had before. */
  readonly newCluster: (
    change?: Partial<ClusterRegistration>,
    name?: string,
  ) => Promise<ClusterRegistration>;
  /** As a batch of the queue. */
  readonly deliver: (
    functionName: string,
    queueName: string,
    records: readonly RecordOf[],
  ) => Promise<Invoked>;
  /** As the schedule. */
  readonly tick: (functionName: string) => Promise<Invoked>;
  readonly stop: () => Promise<void>;
}

/** The key with which the world's one watcher signs. */
export const WATCHER_KEY = 'WATCHERKEY';
/** Its role; also the sender of every record that names none. */
export const WATCHER_ROLE = 'AROAWATCHERKEY';

/** Starts it. One at a time in a process: handlers read its environment. */
export async function startFunctionWorld(): Promise<FunctionWorld> {
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  const senders = {
    ids: new Map([[WATCHER_KEY, `${WATCHER_ROLE}:session`]]),
    ...WATCHER_SENDERS,
  };
  const aws = await startLocalAws({ serverlessFile: SERVERLESS_FILE, stage: STAGE, senders });
  Object.assign(process.env, aws.environment);
  const decisions = noteDecisions(aws);
  const { registry, view, destroy } = openStores(aws);
  const api = await startScriptedApiServer();
  const handlers = await loadHandlers({
    sinks: { log, metrics },
    credentialsOf: aws.credentialsOf,
  });
  const seal = new LocalSeal();
  useSeal(seal);
  let clusters = 0;
  let messages = 0;
  const invoke = async (functionName: string, event: object): Promise<unknown> =>
    handlers[functionName]?.(event as never, lambdaContext(functionName));
  return {
    aws,
    registry,
    view,
    log,
    metrics,
    api,
    seal,
    decisions,
    newCluster: async (change = {}, name = undefined) => {
      clusters += 1;
      const registration = registrationOf(name ?? `c${String(clusters)}`, api, change);
      const written = await registry.writeCluster(registration, 0);
      if (written !== 'written') throw new Error('the cluster was not registered');
      return { ...registration, configVersion: 1 };
    },
    deliver: async (functionName, queueName, records) => {
      const Records = records.map((record) => {
        messages += 1;
        return sqsRecord(record, { queueName, messageId: `message-${String(messages)}` });
      });
      try {
        const response = (await invoke(functionName, { Records })) as SQSBatchResponse;
        const ids = new Set(response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        const failed = Records.flatMap(({ messageId }, index) =>
          ids.has(messageId) ? [index] : [],
        );
        return { failed, thrown: undefined };
      } catch (thrown) {
        return { failed: records.map((_, index) => index), thrown };
      }
    },
    tick: async (functionName) => {
      try {
        await invoke(functionName, {});
        return { failed: [], thrown: undefined };
      } catch (thrown) {
        return { failed: [], thrown };
      }
    },
    stop: async () => {
      useSeal(undefined);
      destroy();
      await aws.stop();
      await api.close();
    },
  };
}

/** True for a line that tells of a missing right, loudly: not `info`, and by its type. */
export function tellsOfMissingRight({ level, cause, fields }: LogLine): boolean {
  const isLoud = level === 'error' || level === 'warn';
  return isLoud && (isAccessError(cause) || /AccessDenied/.test(JSON.stringify(fields)));
}

/** The SDK's class for a missing right, or an error caused by one. */
export function isAccessError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A mapping is told by the queue service itself, everybody else by the SDK.
  const code = error instanceof SqsError ? error.queryCode : error.name;
  return /^AccessDenied(Exception)?$/.test(code) || isAccessError(error.cause);
}

function noteDecisions({ authorizer }: LocalAws): Decided[] {
  const decisions: Decided[] = [];
  const decide = authorizer.decide.bind(authorizer);
  authorizer.decide = (accessKey: string, request: AuthorizationRequest) => {
    const decision = decide(accessKey, request);
    decisions.push({
      accessKey,
      action: request.action,
      resourceArn: request.resourceArn,
      leadingKeys: request.leadingKeys?.() ?? [],
      isAllowed: decision.kind === 'allowed',
    });
    return decision;
  };
  return decisions;
}

function registrationOf(
  name: string,
  api: ScriptedApiServer,
  change: Partial<ClusterRegistration>,
): ClusterRegistration {
  return {
    id: clusterId(name),
    clusterUid: clusterUid(`uid-of-${name}`),
    mode: 'observe',
    isFrozen: false,
    configVersion: 0,
    senderRoleId: WATCHER_ROLE,
    server: api.url,
    caPem: api.caPem,
    authentication: { kind: 'bearer', token: name },
    labels: {},
    ...change,
  };
}

/** Token of a cluster whose API server hangs up on everybody. */
export const SILENT_TOKEN = 'silent';

/** Answers for every cluster by its token: who it is, its one DaemonSet, the sentinel, nothing more. */
export function answerForAll(api: ScriptedApiServer, daemonSet: (cluster: string) => object): void {
  api.answerWith((request, response) => {
    // A bound token names it in place of a signature.
    const cluster = (request.headers.authorization ?? '').replace(/^Bearer (.*\.)?/, '');
    if (cluster === SILENT_TOKEN) {
      response.destroy();
      return;
    }
    const path = request.path.split('?')[0] ?? '';
    if (path === '/api/v1/namespaces/kube-system') {
      const metadata = { name: 'kube-system', uid: `uid-of-${cluster}`, resourceVersion: '4' };
      answerJson(response, { status: 200, body: { metadata } });
    } else if (path.endsWith('/daemonsets') && request.method === 'GET') {
      const isSentinel = request.path.endsWith(`metadata.name%3D${SENTINEL_KEY.name}`);
      const items = [isSentinel ? liveSentinel() : daemonSet(cluster)];
      answerJson(response, { status: 200, body: { metadata: {}, items } });
    } else if (request.method === 'GET' && /\/(pods|controllerrevisions)$/.test(path)) {
      answerJson(response, { status: 200, body: { metadata: {}, items: [] } });
    } else {
      const name = path.split('/').at(-1) ?? '';
      answerJson(response, { status: 404, body: statusBody(404, 'NotFound', { name }) });
    }
  });
}

function sqsRecord(
  { body, group, senderId = `${WATCHER_ROLE}:session` }: RecordOf,
  { queueName, messageId }: { readonly queueName: string; readonly messageId: string },
): SQSRecord {
  return {
    messageId,
    receiptHandle: messageId,
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: String(Date.now()),
      SenderId: senderId,
      ApproximateFirstReceiveTimestamp: String(Date.now()),
      ...(group === undefined ? {} : { MessageGroupId: group, SequenceNumber: messageId }),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queueName}`,
    awsRegion: 'us-east-1',
  };
}

function lambdaContext(functionName: string): Context {
  const endsAtMs = performance.now() + 30_000;
  return {
    functionName,
    awsRequestId: 'request',
    getRemainingTimeInMillis: () => endsAtMs - performance.now(),
  } as unknown as Context; // what the stack reads of Lambda's context
}
