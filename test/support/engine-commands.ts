/**
 * Runs `rollcall` on the stack of an embedded engine: the deployed handlers, local queues and tables.
 *
 * A breakage changes what the command is told, not what the engine does.
 */
import assert from 'node:assert/strict';
import { SQSClient } from '@aws-sdk/client-sqs';
import { RELEASE } from '../../functions/release.ts';
import { createDynamoCredentialStore } from '../../src/adapters/dynamodb/single-item-stores.ts';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../../src/adapters/dynamodb/fleet-stores.ts';
import { createDynamoFleetMirrorStore } from '../../src/adapters/dynamodb/single-item-stores.ts';
import { createDynamoFreezeStore } from '../../src/adapters/dynamodb/single-item-stores.ts';
import { HttpsClusterConnector } from '../../src/adapters/kubernetes/api/cluster-connector.ts';
import { FLEET_REQUESTS } from '../../src/adapters/kubernetes/api/manifest-apply.ts';
import { createHintQueue } from '../../src/adapters/sqs/hint-queue.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { runProgram } from '../../src/cli/command-line/run-program.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { askCallerArn } from '../../src/cli/reach/open-stack.ts';
import { STACK_OUTPUT_NAMES, type StackOutputName, type Stack } from '../../src/cli/reach/stack.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { ClusterMeta } from '../../src/core/model/view-items.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createHeldTimers } from './held-timers.ts';

/** What is different from what stands in the tables. */
export interface Breakage {
  readonly registration?: Partial<ClusterRegistration>;
  /** Of the engine's first cluster, under whatever UID it is asked for. */
  readonly meta?: Partial<ClusterMeta>;
  readonly outputs?: Partial<Record<StackOutputName, string>>;
}

/** What a command left behind. */
export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line. */
export async function runOnEngine(
  argv: readonly string[],
  {
    engine,
    breakage,
    environment = {},
    laterByMs = 0,
  }: {
    readonly engine: Engine;
    readonly breakage?: Breakage;
    readonly environment?: NodeJS.ProcessEnv;
    /** How much later than now the command believes it is. */
    readonly laterByMs?: number;
  },
): Promise<CommandRun> {
  const out: string[] = [];
  const said: string[] = [];
  const timers = createHeldTimers();
  const clock = { ...timers, nowMs: () => timers.nowMs() + laterByMs };
  const exitCode = await runProgram({
    argv,
    name: 'rollcall',
    version: RELEASE,
    modules: COMMANDS,
    environment,
    clock,
    random: createSystemRandom(),
    writeOut: (text) => out.push(text),
    writeError: (text) => said.push(text),
    terminals: { out: false, error: false },
    signal: new AbortController().signal,
    openStack: () => Promise.resolve({ ...openEngineStack(engine, breakage), clock }),
    openCluster: () => Promise.reject(new Error('no kubeconfig in this test')),
  });
  return { exitCode, stdout: out.join(''), stderr: said.join('') };
}

/** The stack of the engine as the CLI would open it, with what is broken. */
export function openEngineStack(engine: Engine, breakage: Breakage = {}): Stack {
  const { aws } = engine;
  // Its requests end by themselves: a machine that stands still is no cluster that does not answer.
  const clock = createHeldTimers();
  const random = createSystemRandom();
  const client = createDocumentClient();
  const sqs = new SQSClient();
  const ofRegistry = { client, random, tableName: aws.tableNames['RegistryTable'] ?? '' };
  return {
    stage: 'local',
    name: 'rollcall-local',
    outputs: { ...outputsOf(aws), ...breakage.outputs },
    ...brokenStores(engine, breakage),
    fleets: createDynamoFleetStore(ofRegistry),
    rollouts: createDynamoFleetRolloutStore(ofRegistry),
    freezes: createDynamoFreezeStore(ofRegistry),
    mirrors: createDynamoFleetMirrorStore(ofRegistry),
    credentials: createDynamoCredentialStore(ofRegistry),
    openConnector: () =>
      new HttpsClusterConnector({
        clock,
        egress: { loopback: 'allowed' },
        fleetRequests: FLEET_REQUESTS,
      }),
    sqs,
    hints: createHintQueue({
      client: sqs,
      clock,
      reconcileQueueUrl: aws.queueUrls['ReconcileQueue'] ?? '',
      delayQueueUrl: aws.queueUrls['DelayQueue'] ?? '',
    }),
    aws: { region: aws.region },
    awsCredentials: () => sqs.config.credentials(),
    callerArn: () => askCallerArn({ region: aws.region }, () => sqs.config.credentials()),
    clock,
    random,
    close: () => {
      client.destroy();
      sqs.destroy();
    },
  };
}

function brokenStores(
  { registry, view, clusterUids }: Engine,
  { registration, meta }: Breakage,
): Pick<Stack, 'registry' | 'view'> {
  if (registration === undefined && meta === undefined) return { registry, view };
  const [uid] = clusterUids.values();
  assert.ok(uid !== undefined);
  return {
    registry: {
      ...registry,
      readCluster: async (id) => {
        const stored = await registry.readCluster(id);
        return stored === undefined ? undefined : { ...stored, ...registration };
      },
    },
    view: {
      ...view,
      readMeta: async () => {
        const stored = await view.readMeta(uid);
        return stored === undefined ? undefined : { ...stored, ...meta };
      },
    },
  };
}

function outputsOf(aws: Engine['aws']): Stack['outputs'] {
  const entries = STACK_OUTPUT_NAMES.map((name) => {
    if (name === 'Release') return [name, RELEASE];
    return [name, aws.queueUrls[name.replace(/Url$/, '')] ?? `no-${name}`];
  });
  return Object.fromEntries(entries) as Record<StackOutputName, string>;
}
