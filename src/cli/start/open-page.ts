/**
 * The page of a running `npm start`: served by this process for the stack inside it, and bundled when a browser asks for it.
 *
 * Without a page everything else goes on: why there is none is said in a line.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { STAGE } from '../../engine/engine-stores.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { explainError } from '../command-line/explain-error.ts';
import { openStack } from '../reach/open-stack.ts';
import { loadPageFiles, type PageFiles } from '../ui/page-files.ts';
import { serveUi } from '../ui/serve-ui.ts';
import { outputsFileIn } from './second-terminal.ts';

interface PageParts {
  /** What the page may ask. */
  readonly modules: readonly CommandModule[];
  readonly directory: string;
  readonly port: number | undefined;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** Opens it and says its address, once the second terminal's files are written and the engine runs; what is returned closes it. */
export async function openPage({
  modules,
  directory,
  port,
  clock,
  say,
}: PageParts): Promise<() => Promise<void>> {
  // The engine has told this process where its stack is.
  const environment = process.env;
  const globals = { stage: STAGE, stackOutputs: outputsFileIn(directory) };
  const stack = await openStack({ ...globals, environment });
  let loading: Promise<PageFiles> | undefined;
  const files = (): Promise<PageFiles> => (loading ??= loadPageFiles());
  const context = { globals, environment, clock, random: createSystemRandom() };
  try {
    const ui = await serveUi({ modules, stack, context }, { files, ...defined({ port }) });
    say(`The page: ${ui.address}`);
    return async () => {
      await ui.close();
      stack.close();
    };
  } catch (error) {
    stack.close();
    for (const line of explainError(error).lines) say(line);
    return () => Promise.resolve();
  }
}
