/**
 * `npm start`: the entry. Turns outcomes into exit codes and failures into sentences; the work is in
 * start/.
 *
 * Errors say what happened, why, and what to do next; a bug shows its stack and asks for a report.
 */
import { explainError } from './command-line/explain-error.ts';
import { parseStartOptions } from './start/options.ts';
import { runRelease } from './start/release.ts';
import { runStart } from './start/start.ts';

async function main(argv: readonly string[]): Promise<number> {
  try {
    const parsed = parseStartOptions(argv);
    if (parsed.kind === 'done') return parsed.exitCode;
    const { options } = parsed;
    return await (options.shouldRelease ? runRelease(options) : runStart(options));
  } catch (error) {
    const { lines, exitCode } = explainError(error);
    process.stderr.write(lines.map((line) => `${line}\n`).join(''));
    return exitCode;
  }
}

process.exitCode = await main(process.argv.slice(2));
