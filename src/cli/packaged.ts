#!/usr/bin/env node
/**
 * The command of the npm package: `rollcall start` is `npm start` of the repository, everything else is rollcall.ts.
 *
 * Bundled by scripts/build/build-npm.ts. Each half is loaded when it is asked for: --help does not wait for the engine.
 */
const [, , first, ...rest] = process.argv;
if (first === 'start') {
  const { runStartProgram } = await import('./start/start-program.ts');
  const { COMMANDS } = await import('./commands.ts');
  process.exitCode = await runStartProgram(rest, 'rollcall start', COMMANDS);
} else {
  await import('./rollcall.ts');
  if (first === '--help') {
    process.stdout.write('\n`rollcall start` runs local clusters here: `rollcall start --help`.\n');
  }
}
