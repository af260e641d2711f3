/** Opens the page and its API for one stack, as its caller: `rollcall ui` and `npm start` do it alike. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { packageFile } from '../../engine/package-files.ts';
import type { Endpoint } from './answer-request.ts';
import { apiCommands, commandLineOf } from './api-commands.ts';
import { LiveFeed } from './live-feed.ts';
import type { PageFiles } from './page-files.ts';
import { failure } from '../process/exit-codes.ts';
import { runForRequest } from './run-command.ts';
import type { ApiRuntime } from './run-command.ts';
import { startUiServer } from './server.ts';
import type { UiServer } from './server.ts';
import { createProcessCache } from '../../app/reconcile/process/process-cache.ts';
import { openLogNews } from '../log/log-command.ts';
import type { Stack } from '../reach/stack.ts';
import { sourcesOf } from '../rollout/rollout-sources.ts';
import { printFleets, printRollouts } from '../status/get-command.ts';
import { lookAtNodes } from '../status/look-at-fleet.ts';
import { printNodes } from '../status/node-table.ts';
import { healthDocument } from '../status/status-command.ts';
import type { LiveLook } from './live-feed.ts';

/** Made by `npm run reference`. */
const OPEN_API = 'docs/reference/openapi.json';
const TOKEN_BYTES = 32;
/** Taken where it is free. */
export const PAGE_PORT = 7080;
/** The highest there is. */
export const PORT_MAX = 65_535;

export interface ServedUi extends UiServer {
  /** With the token in its fragment, which a browser neither sends nor logs. */
  readonly address: string;
}

interface UiPlace {
  /** Asked for with each file. */
  readonly files: () => Promise<PageFiles>;
  /** 0: a free one; absent: the usual one, or where that is taken a free one. */
  readonly port?: number;
}

/** Serves it. Rejects with CommandError where it cannot have the port that was asked for. */
export async function serveUi(runtime: ApiRuntime, { files, port }: UiPlace): Promise<ServedUi> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const commands = apiCommands(runtime.modules).map((command) => {
    const { path, method } = command;
    const run: Extract<Endpoint, { readonly kind: 'command' }>['run'] = (given, signal) =>
      runForRequest(commandLineOf(command, given), runtime, signal);
    return [path, { kind: 'command', method, run }] as const;
  });
  const { stack, context } = runtime;
  const { clock } = context;
  const feed = new LiveFeed({ look: openLiveLook(stack), clock, epoch: context.random.uniqueId() });
  const endpoints = new Map<string, Endpoint>([
    ...commands,
    ['events', { kind: 'stream', open: feed.stream }],
    ['openapi.json', { kind: 'document', text: await readFile(packageFile(OPEN_API), 'utf8') }],
  ]);
  const server = await openAt(port, (at) => startUiServer({ token, files, endpoints }, at));
  const address = `http://127.0.0.1:${String(server.port)}/#token=${token}`;
  return { ...server, address };
}

/** At the port that was asked for; else at the usual one, or where that is taken at a free one. */
async function openAt(
  port: number | undefined,
  open: (port: number) => Promise<UiServer>,
): Promise<UiServer> {
  try {
    return await open(port ?? PAGE_PORT);
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (port === undefined) return open(0);
    throw failure(
      `Port ${String(port)} cannot be had here.`,
      'Pass another one with --port, or 0 for a free one.',
      error,
    );
  }
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['EADDRINUSE', 'EACCES'].includes(String(error.code))
  );
}

/** Looks, and keeps the unchanged parts of its last look. Rejects as commands do. */
function openLiveLook(stack: Stack): () => Promise<LiveLook> {
  const cache = createProcessCache();
  const news = openLogNews(stack);
  return async () => {
    const seen = await lookAtNodes({ filter: {} }, stack, { ...sourcesOf(stack), cache });
    return {
      standing: {
        status: healthDocument(seen.health),
        rollouts: printRollouts(seen).document,
        fleets: printFleets(seen).document,
        nodes: printNodes(seen).document,
      },
      log: await news(),
    };
  };
}
