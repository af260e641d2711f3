#!/usr/bin/env node
/**
 * `rollcall`, and `kubectl rollcall` when it is found as kubectl-rollcall: the entry.
 *
 * Composes the program with the real process: streams, signals, clock, AWS. The first Ctrl-C asks to
 * leave in order, the second one leaves at once.
 */
import path from 'node:path';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { RELEASE } from '../../functions/release.ts';
import { runProgram } from './command-line/run-program.ts';
import { COMMANDS, HIDDEN_COMMANDS } from './commands.ts';
import { COMPLETE } from './completion/completion-commands.ts';
import { EXIT } from './process/exit-codes.ts';
import { listenForInterrupt } from './process/listen-for-interrupt.ts';

function programName(argv: readonly string[]): string {
  const called = path.basename(argv[1] ?? '');
  return called.startsWith('kubectl-') ? 'kubectl rollcall' : 'rollcall';
}

const exitCode = await runProgram({
  argv: process.argv.slice(2),
  name: programName(process.argv),
  version: RELEASE,
  modules: [...COMMANDS, ...HIDDEN_COMMANDS],
  environment: process.env,
  clock: createSystemClock(),
  random: createSystemRandom(),
  writeOut: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  terminals: { out: process.stdout.isTTY, error: process.stderr.isTTY },
  signal: listenForInterrupt(EXIT.interrupted).signal,
  openCluster: async (options) => {
    const { openOperatorCluster } = await import('./reach/operator-access.ts');
    return openOperatorCluster(options, process.env);
  },
  openStack: async (globals) => {
    // The AWS clients are loaded when they are needed: --help shall not wait for them.
    const { openStack } = await import('./reach/open-stack.ts');
    return openStack({ ...globals, environment: process.env });
  },
});
// An abandoned request may hold the process after Ctrl-C, and while a shell waits.
if (exitCode === EXIT.interrupted || process.argv[2] === COMPLETE) process.exit(exitCode);
process.exitCode = exitCode;
