/**
 * One long-running program as a child process that can be paused, killed
 * and started again with the same arguments.
 *
 * Output goes to a log file. The process gets a session of its own, so that Ctrl-C in a terminal
 * reaches only the test process, which then stops everything in order. An exit that no caller asked
 * for is kept and shown by the next wait, with the end of the log.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Reaper } from './reaper.ts';

/** What to run; `commandLine` is asked again at each start. */
export interface ComponentOptions {
  readonly name: string;
  readonly commandLine: () => readonly [string, ...string[]];
  readonly logPath: string;
  readonly reaper: Reaper;
}

/** Raised when a component ended although it should run; the message ends with its log. */
export class ComponentExitedError extends Error {
  override readonly name = 'ComponentExitedError';
}

/** True if a program ended because another program had its port: one that was free when it was looked for may be gone by then. */
export function isPortTaken(error: unknown): boolean {
  return error instanceof ComponentExitedError && error.message.includes('address already in use');
}

/** A program that runs beside this one. */
export interface Component {
  readonly name: string;
  readonly logPath: string;
  /** Process id, or undefined while it does not run. */
  readonly pid: () => number | undefined;
  readonly start: () => void;
  /** SIGTERM, then SIGKILL after `boundMs`; resolves when the process is gone. */
  readonly stop: (options?: { readonly boundMs?: number }) => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** With which code it last ended by itself; undefined while it runs, and where a signal ended it. */
  readonly exitCode: () => number | undefined;
  /** Throws {@link ComponentExitedError} unless the process runs. */
  readonly assertRunning: () => void;
}

const STOP_BOUND_MS = 10_000;
const LOG_TAIL_CHARACTERS = 3_000;

/** Describes a component; nothing runs until `start`. */
export function createComponent(options: ComponentOptions): Component {
  const { name, logPath, reaper } = options;
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let lastExit = 'was never started';

  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null;
  const pid = (): number | undefined => (isRunning() ? child?.pid : undefined);
  const signal = (signalName: NodeJS.Signals): void => {
    if (isRunning()) child?.kill(signalName);
  };
  /** Waiting for the end keeps this process alive until then: there may be nothing else that does. */
  const ended = async (): Promise<void> => {
    if (isRunning()) child?.ref();
    await exited;
  };
  const stop: Component['stop'] = async ({ boundMs = STOP_BOUND_MS } = {}) => {
    // A stopped (paused) process would not see SIGTERM.
    signal('SIGCONT');
    signal('SIGTERM');
    const escalation = setTimeout(() => {
      signal('SIGKILL');
    }, boundMs);
    await ended();
    clearTimeout(escalation);
  };

  return {
    name,
    logPath,
    pid,
    start: () => {
      if (isRunning()) throw new Error(`${name} runs already`);
      const started = launch(options);
      child = started;
      exited = new Promise((resolve) => {
        const onEnd = (description: string): void => {
          if (started.pid !== undefined) reaper.remove(started.pid);
          lastExit = description;
          resolve();
        };
        started.once('error', (error) => {
          onEnd(`could not start: ${error.message}`);
        });
        started.once('exit', (code, signalName) => {
          onEnd(`ended with ${String(signalName ?? code)}`);
        });
      });
      if (started.pid !== undefined) reaper.add(started.pid);
    },
    stop,
    kill: async () => {
      signal('SIGKILL');
      await ended();
    },
    pause: () => {
      signal('SIGSTOP');
    },
    resume: () => {
      signal('SIGCONT');
    },
    exitCode: () => child?.exitCode ?? undefined,
    assertRunning: () => {
      if (isRunning()) return;
      throw new ComponentExitedError(`${name} ${lastExit}; its log ends:\n${tail(logPath)}`);
    },
  };
}

function launch(options: ComponentOptions): ChildProcess {
  const [program, ...programArguments] = options.commandLine();
  const log = openSync(options.logPath, 'a');
  const child = spawn(program, programArguments, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  // Everything is stopped explicitly, or by the reaper: a child keeps no test process alive.
  child.unref();
  return child;
}

function tail(path: string): string {
  return readFileSync(path, 'utf8').slice(-LOG_TAIL_CHARACTERS);
}
