/**
 * `rollcall ui`: serves the page and the API of this stack on this machine, until Ctrl-C.
 *
 * It acts with the credentials and rights of its caller; nothing is deployed, and nothing listens elsewhere than on 127.0.0.1.
 */
import { once } from 'node:events';
import { wholeNumber } from '../command-line/cluster-arguments.ts';
import { defineCommand, numberOption } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { EXIT, failure } from '../process/exit-codes.ts';
import { loadPageFiles } from './page-files.ts';
import type { PageFiles } from './page-files.ts';
import { serveUi } from './serve-ui.ts';
import type { ServedUi } from './serve-ui.ts';

/** Taken where it is free. */
const PAGE_PORT = 7080;
const PORT_MAX = 65_535;

/** The command, for these commands; `files`: the page. */
export function uiCommand(
  modules: readonly CommandModule[],
  files: () => Promise<PageFiles> = loadPageFiles,
): CommandModule {
  return defineCommand({
    path: ['ui'],
    documents: ['UiOpened', 'UiClosed'],
    summary: 'serve the page and its API on this machine, until Ctrl-C',
    about: [
      'It prints an address with a token: open it in a browser of this machine.',
      'The page looks and acts with your credentials and rights, as the other commands do.',
      'docs/page.md says what protects it, and how scripts use the API.',
    ],
    options: {
      port: numberOption(
        '--port <port>',
        `port on 127.0.0.1 (default: ${String(PAGE_PORT)}, or a free one)`,
        wholeNumber(0, 'Pass a port, or 0 for a free one.', PORT_MAX),
      ),
    },
    examples: ['ui', 'ui --port 8080'],
    interruption: 'orderly',
    run: async ({ options: { port } }, context) => {
      const stack = await context.openStack();
      const runtime = { modules, stack, context };
      const page = await files();
      const served = await openAt(port, (at) => serveUi(runtime, { files: page, port: at }));
      const { address } = served;
      context.say(
        `${page.size === 0 ? 'The API (this package has no page)' : 'The page'}: ${address}`,
      );
      context.say('Ctrl-C ends it.');
      if (context.globals.json === true) context.emit({ kind: 'UiOpened', address });
      if (!context.signal.aborted) await once(context.signal, 'abort');
      await served.close();
      return {
        document: { kind: 'UiClosed', address },
        lines: ['The page is closed.'],
        exitCode: EXIT.ok,
      };
    },
  });
}

/** At the port that was asked for; else at the usual one, or where that is taken at a free one. Throws CommandError. */
async function openAt(
  port: number | undefined,
  open: (port: number) => Promise<ServedUi>,
): Promise<ServedUi> {
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
