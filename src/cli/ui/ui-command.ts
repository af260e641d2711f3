/**
 * `rollcall ui`: serves the page and the API of this stack on this machine, until Ctrl-C.
 *
 * It acts with the credentials and rights of its caller; nothing is deployed, and nothing listens elsewhere than on 127.0.0.1.
 */
import { once } from 'node:events';
import { wholeNumber } from '../command-line/cluster-arguments.ts';
import { defineCommand, numberOption } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { defined } from '@rollcall/base/defined.ts';
import { EXIT } from '../process/exit-codes.ts';
import { loadPageFiles } from './page-files.ts';
import type { PageFiles } from './page-files.ts';
import { PAGE_PORT, PORT_MAX, serveUi } from './serve-ui.ts';

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
      const served = await serveUi(runtime, {
        files: () => Promise.resolve(page),
        ...defined({ port }),
      });
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
