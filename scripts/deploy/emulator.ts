/**
 * The AWS-compatible endpoint on this machine: the one that answers already, or one that is started here.
 *
 * LocalStack where Docker runs and LOCALSTACK_AUTH_TOKEN is set, else MiniStack. LocalStack and the containers of its
 * functions share the machine's network (Linux), because an API server on loopback is reached in no other way. That
 * half was written from LocalStack's documentation and has not been run by us (docs/try-it.md). What was found
 * running is never stopped here.
 */
import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import { ensureMiniStack } from '../lib/ministack/install.ts';
import { startMiniStack } from '../lib/ministack/start.ts';
import type { Reaper } from '../lib/reaper.ts';
import { runTool } from '../lib/run-tool.ts';
import { waitFor } from './wait-for.ts';

/** A running emulator of AWS. */
export interface Emulator {
  readonly endpoint: string;
  /** `found`: it ran already, and goes on when this process ends. */
  readonly kind: 'found' | 'ministack' | 'localstack';
  /** Process id of a MiniStack that was started here. */
  readonly pid?: number;
  readonly logPath?: string;
  /** Stops what was started here. */
  readonly stop: () => Promise<void>;
}

/** What opening needs. */
export interface OpenEmulator {
  readonly endpoint: URL;
  /** For logs and temporary files; removed by the caller. */
  readonly directory: string;
  readonly reaper: Reaper;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (text: string) => void;
}

const START_DEADLINE_MS = 120_000;
const ANSWER_TIMEOUT_MS = 2000;
const LOCALSTACK_IMAGE = 'localstack/localstack';

/** Finds or starts it. Rejects when it does not come up; nothing is left running then. */
export async function openEmulator(request: OpenEmulator): Promise<Emulator> {
  const { endpoint, environment, say } = request;
  if (await doesAnswer(endpoint)) {
    say(`found an AWS-compatible endpoint at ${endpoint.origin}; if its functions reach no`);
    say('API server on loopback, docs/try-it.md says how to start it');
    return { endpoint: endpoint.origin, kind: 'found', stop: () => Promise.resolve() };
  }
  const token = environment['LOCALSTACK_AUTH_TOKEN'] ?? '';
  if (token !== '' && (await hasDocker())) return openLocalStack(request);
  return openMiniStack(request);
}

/** True when something speaks HTTP there, whatever it says. */
export async function doesAnswer(endpoint: URL): Promise<boolean> {
  try {
    const url = new URL('/_localstack/health', endpoint);
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await answer.arrayBuffer();
    return true;
  } catch (error) {
    // Refused or silent: nothing listens. Anything else would be a bug of this function.
    if (error instanceof TypeError || error instanceof DOMException) return false;
    throw error;
  }
}

async function openMiniStack(request: OpenEmulator): Promise<Emulator> {
  const { endpoint, directory, reaper, say } = request;
  const python = await ensureMiniStack();
  say(`starting MiniStack at ${endpoint.origin} …`);
  const temporaryDirectory = path.join(directory, 'tmp');
  await mkdir(temporaryDirectory, { recursive: true });
  const logPath = path.join(directory, 'ministack.log');
  const port = Number(endpoint.port === '' ? 80 : endpoint.port);
  const component = startMiniStack({ python, port, temporaryDirectory, logPath, reaper });
  const stop = (): Promise<void> => component.stop();
  try {
    await waitFor({ what: 'MiniStack answers', deadlineMs: START_DEADLINE_MS }, async () => {
      component.assertRunning();
      return (await doesAnswer(endpoint)) || undefined;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const pid = component.pid();
  return {
    endpoint: endpoint.origin,
    kind: 'ministack',
    logPath,
    stop,
    ...(pid === undefined ? {} : { pid }),
  };
}

async function openLocalStack({ endpoint, say }: OpenEmulator): Promise<Emulator> {
  const name = `rollcall-localstack-${String(process.pid)}`;
  const port = endpoint.port === '' ? '80' : endpoint.port;
  say(`starting LocalStack in Docker at ${endpoint.origin} …`);
  await docker([
    ...['run', '--detach', '--rm', '--name', name, '--network', 'host'],
    // Without a value: taken from this process's environment, so that the token is in no process list.
    ...['--env', 'LOCALSTACK_AUTH_TOKEN'],
    ...['--env', `GATEWAY_LISTEN=127.0.0.1:${port}`],
    ...['--env', 'LAMBDA_DOCKER_NETWORK=host'],
    ...['--env', 'HOSTNAME_FROM_LAMBDA=127.0.0.1'],
    ...['--volume', '/var/run/docker.sock:/var/run/docker.sock'],
    LOCALSTACK_IMAGE,
  ]);
  const stop = async (): Promise<void> => docker(['stop', name]);
  try {
    const deadlineMs = START_DEADLINE_MS;
    await waitFor(
      { what: 'LocalStack answers', deadlineMs },
      async () => (await doesAnswer(endpoint)) || undefined,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: endpoint.origin, kind: 'localstack', stop };
}

async function hasDocker(): Promise<boolean> {
  try {
    const call = { program: 'docker', parameters: ['info'], directory: process.cwd() };
    return (await runTool(call)).exitCode === 0;
  } catch {
    // No such program.
    return false;
  }
}

async function docker(parameters: readonly string[]): Promise<void> {
  const result = await runTool({ program: 'docker', parameters, directory: process.cwd() });
  if (result.exitCode === 0) return;
  throw new Error(`docker ${parameters[0] ?? ''} failed: ${result.stderr.slice(-1000)}`);
}
