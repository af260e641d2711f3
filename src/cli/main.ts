/**
 * `npm start`: the entry. Turns outcomes into exit codes and failures into sentences; the work is in
 * start/.
 *
 * Errors say what happened, why, and what to do next; a bug shows its stack and asks for a report.
 */
import { EngineRefusal } from '../local/engine-refusal.ts';
import type { EngineRefusalCode } from '../local/engine-refusal.ts';
import { CommandError, EXIT } from './exit-codes.ts';
import { parseStartOptions } from './start/options.ts';
import { runRelease } from './start/release.ts';
import { runStart } from './start/start.ts';

const REFUSALS_FOR_SAFETY: ReadonlySet<EngineRefusalCode> = new Set<EngineRefusalCode>([
  'built-in-controller-runs',
  'other-cluster',
  'still-managed',
]);

async function main(argv: readonly string[]): Promise<number> {
  try {
    const parsed = parseStartOptions(argv);
    if (parsed.kind === 'done') return parsed.exitCode;
    const { options } = parsed;
    return await (options.shouldRelease ? runRelease(options) : runStart(options));
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommandError) {
    process.stderr.write(`error: ${error.message}\n${error.remedy}\n`);
    return error.exitCode;
  }
  if (error instanceof EngineRefusal) {
    process.stderr.write(`error: ${error.message}\n${error.remedy}\n`);
    return REFUSALS_FOR_SAFETY.has(error.code) ? EXIT.refused : EXIT.failed;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`error: this is a bug in rollcall, please report it\n${text}\n`);
  return EXIT.failed;
}

process.exitCode = await main(process.argv.slice(2));
