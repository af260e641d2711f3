/**
 * Starts and stops the reference servers, each on a loopback port of its own.
 *
 * DynamoDB Local has no option for its address and is bound by a small class of ours; MiniStack would listen on every
 * interface unless told. Every start is checked by a health request, every stop goes by process id, and a reaper
 * ends what a killed test run leaves behind. Logs and configuration go to a temporary directory.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ComponentExitedError, createComponent } from '../../../scripts/lib/component.ts';
import { ensureMiniStack } from '../../../scripts/lib/ministack/install.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { findFreePorts } from '../../../scripts/lib/ports.ts';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { ensureJavaServers } from './reference-cache.ts';

/** A running server. */
export interface RunningServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface Launch {
  readonly name: string;
  readonly healthPath: string;
  /** The command line for a port; `directory` is for configuration. */
  readonly commandLine: (port: number, directory: string) => readonly [string, ...string[]];
}

const startDeadlineMs = 180_000;

/** A port that was free when it was looked for may be gone when the server is that far. */
const START_ATTEMPTS_MAX = 3;

async function launch(request: Launch): Promise<RunningServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launchOnce(request);
    } catch (error) {
      const isEnded = error instanceof ComponentExitedError;
      if (!isEnded || attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

async function launchOnce({ name, healthPath, commandLine }: Launch): Promise<RunningServer> {
  const directory = mkdtempSync(path.join(tmpdir(), `rollcall-${name}-`));
  const reaper = startReaper({ temporaryDirectory: directory });
  const [port = 0] = await findFreePorts(1);
  const command = commandLine(port, directory);
  const component = createComponent({
    name,
    commandLine: () => command,
    logPath: path.join(directory, `${name}.log`),
    reaper,
  });
  const endpoint = `http://127.0.0.1:${String(port)}`;
  component.start();
  const stop = async (): Promise<void> => {
    await component.stop();
    await reaper.close();
  };
  try {
    const options = { deadlineMs: startDeadlineMs, description: `${name} answers` };
    await pollUntil(options, async () => {
      component.assertRunning();
      const answer = await fetch(`${endpoint}${healthPath}`);
      await answer.arrayBuffer();
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, stop };
}

function elasticMqConfiguration(port: number): string {
  return `
node-address { protocol = http, host = "127.0.0.1", port = ${String(port)}, context-path = "" }
rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = ${String(port)}, sqs-limits = strict }
rest-stats { enabled = false }
generate-node-address = false
aws { region = us-east-1, accountId = 000000000000 }
`;
}

/** ElasticMQ: SQS. */
export async function startElasticMq(): Promise<RunningServer> {
  const { classPath } = await ensureJavaServers();
  return launch({
    name: 'elasticmq',
    healthPath: '/health',
    commandLine: (port, directory) => {
      const configuration = path.join(directory, 'elasticmq.conf');
      writeFileSync(configuration, elasticMqConfiguration(port));
      return [
        ...(['java', '-Xmx128m', '-XX:+UseSerialGC'] as const),
        ...[`-Dconfig.file=${configuration}`, '-cp', classPath, 'org.elasticmq.server.Main'],
      ];
    },
  });
}

/** DynamoDB Local, in memory. */
export async function startDynamoDbLocal(): Promise<RunningServer> {
  const { classPath, libraryDirectory } = await ensureJavaServers();
  return launch({
    name: 'dynamodb-local',
    // Any answer means that it is up; without credentials it is a refusal.
    healthPath: '/',
    commandLine: (port) => [
      ...(['java', '-Xmx256m', '-XX:+UseSerialGC'] as const),
      ...[`-Dsqlite4java.library.path=${libraryDirectory}`, '-cp', classPath, 'DynamoDbLoopback'],
      ...['-inMemory', '-sharedDb', '-port', String(port), '-disableTelemetry'],
    ],
  });
}

/** MiniStack: both SQS and DynamoDB. */
export async function startMiniStack(): Promise<RunningServer> {
  const python = await ensureMiniStack();
  return launch({
    name: 'ministack',
    healthPath: '/_ministack/health',
    commandLine: (port) => [
      ...(['env', 'BIND_HOST=127.0.0.1', `GATEWAY_PORT=${String(port)}`] as const),
      ...[python, '-m', 'ministack'],
    ],
  });
}
