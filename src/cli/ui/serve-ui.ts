/** Opens the page and its API for one stack, as its caller: `rollcall ui` and `npm start` do it alike. */
import { randomBytes } from 'node:crypto';
import type { Endpoint } from './answer-request.ts';
import { apiCommands, commandLineOf } from './api-commands.ts';
import { LiveFeed } from './live-feed.ts';
import { openLiveLook } from './live-look.ts';
import type { PageFiles } from './page-files.ts';
import { runForRequest } from './run-command.ts';
import type { ApiRuntime } from './run-command.ts';
import { startUiServer } from './server.ts';
import type { UiServer } from './server.ts';

const TOKEN_BYTES = 32;

/** An open page. */
export interface ServedUi extends UiServer {
  /** With the token in its fragment, which a browser neither sends nor logs. */
  readonly address: string;
}

/** Serves it. Rejects with the system's error where it cannot have the port; 0: a free one. */
export async function serveUi(
  runtime: ApiRuntime,
  { files, port }: { readonly files: PageFiles; readonly port: number },
): Promise<ServedUi> {
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
  ]);
  const server = await startUiServer({ token, files, endpoints }, port);
  const address = `http://127.0.0.1:${String(server.port)}/#token=${token}`;
  return { ...server, address };
}
