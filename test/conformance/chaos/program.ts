/**
 * A program of ours that is to run all the time: restarted whenever it ends, as a node agent or an
 * init system would, killed, frozen and thawed when told.
 *
 * An end that nobody asked for is counted, and is a failure: a program of ours bears what is done around it. Only a
 * start that says so by its exit code was in vain, and is not: the engine refuses to start without its cluster.
 */
import { readFileSync, statSync } from 'node:fs';
import { createComponent } from '../../../scripts/lib/component.ts';
import type { Reaper } from '../../../scripts/lib/reaper.ts';

export interface ProgramOptions {
  readonly name: string;
  readonly commandLine: () => readonly [string, ...string[]];
  readonly logPath: string;
  readonly reaper: Reaper;
}

export interface Program {
  readonly name: string;
  readonly logPath: string;
  readonly pid: () => number | undefined;
  /** Keeps it running from now on. */
  readonly start: () => void;
  /** SIGKILL; it stays down for so long, then is started again. Resolves when it has been. */
  readonly kill: (downMs: number) => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** True while the kernel says that the process is stopped. */
  readonly isPaused: () => boolean;
  /** SIGTERM, then SIGKILL after a bound; it is not started again. */
  readonly stop: () => Promise<void>;
  /** SIGKILL; it is not started again. */
  readonly end: () => Promise<void>;
  /** What it has logged since it was last started. */
  readonly logOfThisLife: () => string;
  /** How often it ended by itself, but for starts in vain. */
  readonly ownEnds: () => number;
  readonly startsInVain: () => number;
}

/** The exit code of a program that could not start because of what is around it (EX_TEMPFAIL). */
export const IN_VAIN_CODE = 75;
const LOOK_MS = 200;
/** Between an end that nobody asked for and the next start. */
const RESTART_MS = 500;

/** Describes a program; nothing runs until `start`. */
export function createProgram(options: ProgramOptions): Program {
  const component = createComponent(options);
  let isWanted = false;
  let ownEnds = 0;
  let startsInVain = 0;
  let downSinceMs: number | undefined;
  let lifeFromByte = 0;
  const begin = (): void => {
    lifeFromByte = statSync(options.logPath, { throwIfNoEntry: false })?.size ?? 0;
    component.start();
  };
  const look = (): void => {
    if (!isWanted || component.pid() !== undefined) return;
    if (downSinceMs === undefined) {
      downSinceMs = performance.now();
      if (component.exitCode() === IN_VAIN_CODE) startsInVain += 1;
      else ownEnds += 1;
      return;
    }
    if (performance.now() - downSinceMs < RESTART_MS) return;
    downSinceMs = undefined;
    begin();
  };
  const timer = setInterval(look, LOOK_MS);
  const setDown = (): void => {
    isWanted = false;
    downSinceMs = undefined;
  };
  return {
    name: options.name,
    logPath: options.logPath,
    pid: component.pid,
    start: () => {
      isWanted = true;
      if (component.pid() === undefined) begin();
    },
    kill: async (downMs) => {
      setDown();
      await component.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      begin();
      isWanted = true;
    },
    pause: component.pause,
    resume: component.resume,
    isPaused: () => isStopped(component.pid()),
    stop: async () => {
      setDown();
      clearInterval(timer);
      await component.stop();
    },
    end: async () => {
      setDown();
      clearInterval(timer);
      await component.kill();
    },
    logOfThisLife: () => readFileSync(options.logPath).subarray(lifeFromByte).toString('utf8'),
    ownEnds: () => ownEnds,
    startsInVain: () => startsInVain,
  };
}

/** Empty for a process that has just gone. */
function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}

/** Whether the kernel reports the process as stopped by a signal. */
export function isStopped(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  const text = readStat(pid);
  // The program's name, in parentheses, may hold spaces; its state follows.
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}
