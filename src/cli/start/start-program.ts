/**
 * `npm start`, and `rollcall start` of the installed package: outcomes become exit codes, failures become sentences.
 *
 * Errors say what happened, why, and what to do next; a bug shows its stack and asks for a report.
 */
import { explainError } from '../command-line/explain-error.ts';
import { parseStartOptions } from './options.ts';
import type { CalledAs } from './options.ts';
import { runRelease } from './release.ts';
import { runStart } from './start.ts';

/** Runs it with the arguments after its name; resolves to the exit code. */
export async function runStartProgram(
  argv: readonly string[],
  calledAs: CalledAs,
): Promise<number> {
  try {
    const parsed = parseStartOptions(argv, calledAs);
    if (parsed.kind === 'done') return parsed.exitCode;
    const { options } = parsed;
    return await (options.shouldRelease ? runRelease(options) : runStart(options));
  } catch (error) {
    const { lines, exitCode } = explainError(error);
    process.stderr.write(lines.map((line) => `${line}\n`).join(''));
    return exitCode;
  }
}
