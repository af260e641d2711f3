/**
 * The bundled command line of a checkout, run as a user runs it, against the emulator.
 *
 * A document on stdout is what a caller decides on; what it says for people is in the error of a run that failed.
 */
import { runTool } from '../lib/run-tool.ts';

/** Runs `rollcall --json …` and returns its document; rejects unless it ends with `exitCode` (default 0). */
export type RollcallCommand = (
  parameters: readonly string[],
  options?: { readonly exitCode?: number },
) => Promise<Readonly<Record<string, unknown>>>;

/** The command of a bundle, in the environment of an emulator. */
export function createRollcallCommand(
  file: string,
  environment: NodeJS.ProcessEnv,
): RollcallCommand {
  return async (parameters, { exitCode = 0 } = {}) => {
    const result = await runTool({
      program: process.execPath,
      parameters: [file, '--stage', 'local', '--json', ...parameters],
      directory: process.cwd(),
      environment,
    });
    if (result.exitCode === exitCode) return JSON.parse(result.stdout) as Record<string, unknown>;
    const name = parameters.join(' ');
    throw new Error(
      `rollcall ${name} ended with ${String(result.exitCode)}:\n${result.stderr}${result.stdout}`,
    );
  };
}
