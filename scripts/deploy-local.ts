/**
 * `npm run deploy:local`: the whole of Rollcall on this machine, functions inside an emulator of AWS.
 *
 * stdout holds what runs where, or with `--json` exactly one document; progress goes to stderr. The first Ctrl-C
 * leaves in order, the second one at once (the reaper then ends what is left). deploy/ does the work.
 */
import { CommandError, EXIT } from '../src/cli/process/exit-codes.ts';
import { EngineRefusal } from '../src/engine/engine-refusal.ts';
import { runDown } from './deploy/down.ts';
import { parseDeployOptions } from './deploy/options.ts';
import { runUp } from './deploy/up.ts';

async function main(argv: readonly string[]): Promise<number> {
  try {
    const parsed = parseDeployOptions(argv, process.env);
    if (parsed.kind === 'done') return parsed.exitCode;
    const { options } = parsed;
    return await (options.isDown ? runDown(options) : runUp(options));
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommandError || error instanceof EngineRefusal) {
    process.stderr.write(`error: ${error.message}\n${error.remedy}\n`);
    return error instanceof CommandError ? error.exitCode : EXIT.failed;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  process.stderr.write(`error: ${text}\n${cause === '' ? '' : `because: ${cause}\n`}`);
  return EXIT.failed;
}

process.exitCode = await main(process.argv.slice(2));
