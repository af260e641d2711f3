/**
 * The theatre of the chaos suite: a real control plane with fake nodes, Rollcall's engine and its watcher
 * as processes of their own, and links of ours between them that can be cut.
 *
 *   watcher ──watcher-api──▶ API server ◀──functions-api── engine (queues, tables, handlers)
 *      └──────watcher-queue──▶ the engine's queue
 *
 * Whoever judges (witness.ts) and whoever churns talks to the API server straight. No process survives
 * this one (reaper.ts). The engine's ports change with each start; the watcher sees only the links.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../../../src/adapters/aws/create-client.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { startReaper, type Reaper } from '../../../scripts/lib/reaper.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import type { EngineSettings, EngineWhereabouts } from './engine-child.ts';
import { createProgram, type Program } from './program.ts';
import { openLink, type Link } from './tcp-proxy.ts';

/** Names of the links. */
export const LINK_NAMES = ['watcher-api', 'watcher-queue', 'functions-api'] as const;
export type LinkName = (typeof LINK_NAMES)[number];

/** Everything that faults can be done to. */
export interface Theatre {
  readonly controlPlane: ControlPlane;
  readonly admin: ApiClient;
  readonly links: Readonly<Record<LinkName, Link>>;
  readonly engine: Program;
  readonly watcher: Program;
  /** Another watcher of the same cluster, as a mistaken deployment would start it. */
  readonly openSecondWatcher: () => Program;
  /** How often a watcher, first or second, ended by itself. */
  readonly watcherOwnEnds: () => number;
  /** How many timers there are: messages of the delay queue, whatever their state. */
  readonly countTimers: () => Promise<number>;
  /** Logs of all programs, settings, data. */
  readonly directory: string;
  readonly close: () => Promise<void>;
}

const CLUSTER = 'chaos';
const ENGINE_START_MS = 180_000;
const LOOK_MS = 100;

export interface TheatreOptions {
  readonly keepLogs: boolean;
  /** Without the shipped admission policy, which knows the injectors of a cluster by a list only; default: with it. */
  readonly admission?: 'shipped' | 'none';
  /** Default: `info`; with `debug` each run leaves a line. */
  readonly engineLog?: EngineSettings['logLevel'];
}

const COUNTED = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;
const ADMISSION_FILES = ['infra/admission/policy.yaml', 'infra/admission/every-daemon-set.yaml'];

/** Opens the theatre; the engine and the watcher run. The caller owes `close()`. */
export async function openTheatre(options: TheatreOptions): Promise<Theatre> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-chaos-'));
  const reaper = startReaper(options.keepLogs ? {} : { temporaryDirectory: directory });
  const controlPlane = await startControlPlane({
    name: 'chaos',
    limits: 'lifted',
    dataDir: join(directory, 'control-plane'),
  });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  await applyFiles(admin, [
    repositoryPath('infra/watcher/rbac.yaml'),
    repositoryPath('infra/functions/rbac.yaml'),
    ...(options.admission === 'none' ? [] : ADMISSION_FILES.map(repositoryPath)),
  ]);
  const links = {
    'watcher-api': await openLink('watcher-api'),
    'watcher-queue': await openLink('watcher-queue'),
    'functions-api': await openLink('functions-api'),
  };
  const apiPort = Number(new URL(controlPlane.server).port);
  links['watcher-api'].leadTo(apiPort);
  links['functions-api'].leadTo(apiPort);
  const parts = { controlPlane, links, directory, reaper };
  const engine = openEngine(parts, options.engineLog ?? 'info');
  engine.program.start();
  const environment = await engine.found(links['watcher-queue']);
  const openWatcher = describeWatcher(parts, environment);
  const watcher = openWatcher('watcher');
  watcher.start();
  const watchers = [watcher];
  const close = async (): Promise<void> => {
    await watcher.stop();
    await engine.close();
    for (const link of Object.values(links)) await link.close();
    admin.close();
    await controlPlane.stop();
    await reaper.close();
    if (!options.keepLogs) await rm(directory, { recursive: true, force: true });
  };
  return {
    controlPlane,
    admin,
    links,
    engine: engine.program,
    watcher,
    openSecondWatcher: () => {
      const second = openWatcher(`second-watcher-${String(watchers.length)}`);
      watchers.push(second);
      return second;
    },
    watcherOwnEnds: () => watchers.reduce((sum, one) => sum + one.ownEnds(), 0),
    countTimers: async () => countMessages(await engine.whereabouts()),
    directory,
    close,
  };
}

/** Everybody's rights: the theatre asks for itself. */
async function countMessages(whereabouts: EngineWhereabouts): Promise<number> {
  const { watcherEnvironment, operator, delayQueueUrl } = whereabouts;
  const client = createAwsClient(SQSClient, CALL_LIMITS.function, {
    region: watcherEnvironment['AWS_REGION'] ?? '',
    endpoint: watcherEnvironment['ROLLCALL_SQS_ENDPOINT'] ?? '',
    credentials: operator,
  });
  try {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: delayQueueUrl, AttributeNames: [...COUNTED] }),
    );
    return COUNTED.reduce((sum, name) => sum + Number(Attributes[name] ?? '0'), 0);
  } finally {
    client.destroy();
  }
}

interface Parts {
  readonly controlPlane: ControlPlane;
  readonly links: Theatre['links'];
  readonly directory: string;
  readonly reaper: Reaper;
}

interface OpenedEngine {
  readonly program: Program;
  /** Resolves when it runs the first time, and keeps the link leading to its queue from then on. */
  readonly found: (queueLink: Link) => Promise<EngineWhereabouts['watcherEnvironment']>;
  /** Where it is now; waits while it starts again. */
  readonly whereabouts: () => Promise<EngineWhereabouts>;
  readonly close: () => Promise<void>;
}

function openEngine(
  { controlPlane, links, directory, reaper }: Parts,
  logLevel: EngineSettings['logLevel'],
): OpenedEngine {
  const settingsPath = join(directory, 'engine-settings.json');
  const whereaboutsPath = join(directory, 'engine-whereabouts.json');
  const settings: EngineSettings = {
    cluster: CLUSTER,
    server: `https://127.0.0.1:${String(links['functions-api'].port)}`,
    caPem: controlPlane.caPem,
    watcherToken: controlPlane.tokens.watcher,
    functionsToken: controlPlane.tokens.functions,
    adminToken: controlPlane.tokens.admin,
    watcherSecret: randomUUID(),
    dataDirectory: join(directory, 'data'),
    whereaboutsPath,
    logLevel,
  };
  writeFileSync(settingsPath, JSON.stringify(settings), { mode: 0o600 });
  const program = createProgram({
    name: 'engine',
    commandLine: () => [
      process.execPath,
      repositoryPath('test/conformance/chaos/engine-child.ts'),
      settingsPath,
    ],
    logPath: join(directory, 'engine.log'),
    reaper,
  });
  let timer: NodeJS.Timeout | undefined;
  const readWhereabouts = (): EngineWhereabouts | undefined => {
    const found = readJson(whereaboutsPath) as EngineWhereabouts | undefined;
    return found?.pid === program.pid() ? found : undefined;
  };
  const waiting = { deadlineMs: ENGINE_START_MS, description: 'the engine runs' };
  const whereabouts = (): Promise<EngineWhereabouts> => pollUntil(waiting, readWhereabouts);
  return {
    program,
    whereabouts,
    found: async (queueLink) => {
      const { watcherEnvironment } = await whereabouts();
      const follow = (): void => {
        const endpoint = readWhereabouts()?.watcherEnvironment['ROLLCALL_SQS_ENDPOINT'];
        if (endpoint !== undefined) queueLink.leadTo(Number(new URL(endpoint).port));
      };
      follow();
      timer = setInterval(follow, LOOK_MS);
      return watcherEnvironment;
    },
    close: async () => {
      clearInterval(timer);
      await program.stop();
    },
  };
}

function describeWatcher(
  { controlPlane, links, directory, reaper }: Parts,
  engineEnvironment: EngineWhereabouts['watcherEnvironment'],
): (name: string) => Program {
  const credentials = join(directory, 'watcher-credentials');
  mkdirSync(credentials);
  writeFileSync(join(credentials, 'ca.pem'), controlPlane.caPem);
  writeFileSync(join(credentials, 'token'), controlPlane.tokens.watcher, { mode: 0o600 });
  const queue = new URL(engineEnvironment['ROLLCALL_EVENTS_QUEUE_URL'] ?? '');
  const endpoint = `http://127.0.0.1:${String(links['watcher-queue'].port)}`;
  const environment = {
    ...engineEnvironment,
    ROLLCALL_SQS_ENDPOINT: endpoint,
    ROLLCALL_EVENTS_QUEUE_URL: `${endpoint}${queue.pathname}`,
    ROLLCALL_API_SERVER: `https://127.0.0.1:${String(links['watcher-api'].port)}`,
    ROLLCALL_CA_FILE: join(credentials, 'ca.pem'),
    ROLLCALL_TOKEN_FILE: join(credentials, 'token'),
  };
  const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return (name) =>
    createProgram({
      name,
      // env replaces itself with the program: the process id is the watcher's.
      commandLine: () => [
        'env',
        ...assignments,
        process.execPath,
        repositoryPath('src/watcher/main.ts'),
      ],
      logPath: join(directory, `${name}.log`),
      reaper,
    });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
