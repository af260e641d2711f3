/**
 * The AWS-compatible endpoint on this machine: the one that answers already, which is never stopped here, or a MiniStack that is
 * started.
 */
import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import { ensureMiniStack } from '../lib/ministack/install.ts';
import { startMiniStack } from '../lib/ministack/start.ts';
import type { Reaper } from '../lib/reaper.ts';
import { waitFor } from './wait-for.ts';

/** A running emulator of AWS. */
export interface Emulator {
  readonly endpoint: string;
  /** `found`: it ran already, and goes on when this process ends. */
  readonly kind: 'found' | 'ministack';
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
  readonly say: (text: string) => void;
}

const START_DEADLINE_MS = 120_000;
const ANSWER_TIMEOUT_MS = 2000;

/** Finds or starts it. Rejects when it does not come up; nothing is left running then. */
export async function openEmulator(request: OpenEmulator): Promise<Emulator> {
  const { endpoint, say } = request;
  if (await doesAnswer(endpoint)) {
    say(`found an AWS-compatible endpoint at ${endpoint.origin}; if its functions reach no`);
    say('API server on loopback, docs/try-it.md says how to start it');
    return { endpoint: endpoint.origin, kind: 'found', stop: () => Promise.resolve() };
  }
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
