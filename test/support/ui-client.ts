/** The page's server over the stores of a CommandWorld, and a client that may send what a browser would not let a page send. */
import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { PageFiles } from '../../src/cli/ui/page-files.ts';
import { serveUi } from '../../src/cli/ui/serve-ui.ts';
import type { ServedUi } from '../../src/cli/ui/serve-ui.ts';
import type { CommandWorld } from './command-world.ts';

/** In place of the page. */
export const PAGE: PageFiles = new Map([
  ['index.html', { type: 'text/html; charset=utf-8', body: Buffer.from('<title>page</title>') }],
  ['page.js', { type: 'text/javascript; charset=utf-8', body: Buffer.from('// page') }],
]);

/** What is sent. */
export interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** What came back. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A served page, asked as its own page would ask unless the headers say otherwise. */
export interface UiClient {
  readonly ui: ServedUi;
  readonly token: string;
  ask(path: string, sent?: Sent): Promise<Answered>;
  /** The answer once its headers are there. */
  open(path: string, sent?: Sent): Promise<IncomingMessage>;
}

/** Serves the stack of a world at a free port; `files`: the page itself. */
export async function serveWorld(world: CommandWorld, files = PAGE): Promise<UiClient> {
  const globals = { stage: 'dev' };
  const { clock, random, environment } = world;
  const context = { globals, clock, random, environment };
  const runtime = { modules: COMMANDS, stack: world.open(globals), context };
  return clientOf(await serveUi(runtime, { files: () => Promise.resolve(files), port: 0 }));
}

/** A client of a served page. */
export function clientOf(ui: ServedUi): UiClient {
  const token = ui.address.split('#token=')[1] ?? '';
  const open: UiClient['open'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const own = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const at = { host: '127.0.0.1', port: ui.port, path, method, agent: false };
      const sent = request({ ...at, headers: { ...own, ...headers } }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  const ask: UiClient['ask'] = async (path, sent) => {
    const answer = await open(path, sent);
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    const { statusCode: status = 0, headers } = answer;
    return { status, headers, text: Buffer.concat(chunks).toString('utf8') };
  };
  return { ui, token, ask, open };
}
