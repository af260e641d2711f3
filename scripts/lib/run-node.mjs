/**
 * Runs a program under the Node 24 of node_modules, and hands on arguments, signals and exit code.
 *
 * Plain JavaScript for Node 20 on, as launch.mjs, which says why. stdout belongs to the program alone.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { nodeBinaryOf } from './install.mjs';

/** A terminal's Ctrl-C reaches npm, this process and the entry; npm then repeats it. Within this time it is one. */
const SIGNAL_REPEAT_MS = 1000;

const PARENT_CHECK_INTERVAL_MS = 250;

/**
 * Where Node keeps what it made of a module, types stripped: by path and content, for every process that is started from here.
 * A test file starts in 0.5 s of processor time instead of 0.8 s. `npm ci` empties it; NODE_DISABLE_COMPILE_CACHE=1 does without.
 */
export const COMPILE_CACHE = 'node_modules/.cache/compile';

/**
 * Hands signals on to the child, once each, unless the terminal has already delivered them to it. A hangup that `nohup` was
 * asked to keep away ends nothing; Node forgets at its start that it is ignored.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {{ readonly wasSignalled: () => boolean }}
 */
function forwardSignals(child) {
  const isTerminal = Boolean(process.stdin.isTTY);
  const isUnderNohup = path.basename(process.env['ROLLCALL_STARTED_BY'] ?? '') === 'nohup';
  const sentAtMs = new Map();
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      const nowMs = Date.now();
      if (nowMs - (sentAtMs.get(signal) ?? 0) < SIGNAL_REPEAT_MS) return;
      sentAtMs.set(signal, nowMs);
      if (signal !== 'SIGTERM' && isTerminal) return;
      if (signal === 'SIGHUP' && isUnderNohup) return;
      child.kill(signal);
    });
  }
  return { wasSignalled: () => sentAtMs.size > 0 };
}

/**
 * Ends the child when npm's shell is gone: killing npm kills only that shell, and the entry would run on unseen. Not when a
 * signal came: the entry had it too, and a second one would cut its leaving short; a hangup ends npm in any case.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {{ readonly wasSignalled: () => boolean }} signals
 */
function endWithNpm(child, { wasSignalled }) {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parentPid = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(watch);
    if (wasSignalled()) return;
    child.kill('SIGTERM');
  }, PARENT_CHECK_INTERVAL_MS);
  watch.unref();
}

/**
 * Runs one program and resolves to the exit code to leave with.
 *
 * @param {string} root
 * @param {readonly string[]} nodeArguments flags of Node, a file, and what the file is told
 * @returns {Promise<number>}
 */
export function runUnderOwnNode(root, nodeArguments) {
  const binaries = path.join(root, 'node_modules', '.bin');
  const child = spawn(nodeBinaryOf(root), nodeArguments, {
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: path.join(root, COMPILE_CACHE),
      ...process.env,
      PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ''}`,
    },
  });
  endWithNpm(child, forwardSignals(child));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/**
 * Runs `main`, and says how to mend it where nothing could be started.
 *
 * @param {() => Promise<void>} main
 */
export async function mainOf(main) {
  try {
    await main();
  } catch (error) {
    console.error(
      `rollcall: cannot start\n  ${error instanceof Error ? error.message : String(error)}`,
    );
    console.error('  remedy: npm ci --include=dev --ignore-scripts=false');
    process.exitCode = 1;
  }
}
