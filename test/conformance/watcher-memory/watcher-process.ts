/**
 * The watcher's bundle as a process of its own, as its image starts it, and its memory as the kernel counts it.
 *
 * Linux alone: the peak is VmHWM of /proc, which writing 5 to clear_refs sets back to what is resident
 * now; so each phase has a peak of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createComponent } from '../../../scripts/lib/component.ts';
import type { Reaper } from '../../../scripts/lib/reaper.ts';
import type { ShippedCommand } from './shipped-command.ts';

export interface WatcherProcessOptions {
  readonly name: string;
  readonly bundle: string;
  readonly command: ShippedCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly reaper: Reaper;
}

/** Memory of a process, in bytes. */
export interface Memory {
  readonly peakBytes: number;
  readonly residentBytes: number;
  /** Of the resident: pages of the program's file, shared with any other process of it. */
  readonly fileBytes: number;
}

/** A running watcher. */
export interface WatcherProcess {
  readonly memory: () => Memory;
  /** The peak counts from now on. */
  readonly resetPeak: () => void;
  /** Lines that it has logged so far. */
  readonly logLines: () => readonly LogLine[];
  readonly pid: () => number | undefined;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Throws with the end of its log when it has ended. */
  readonly assertRunning: () => void;
}

export interface LogLine {
  readonly message: string;
  readonly [field: string]: unknown;
}

/** Starts it. */
export function startWatcherProcess(options: WatcherProcessOptions): WatcherProcess {
  const { name, bundle, command, environment, logPath, reaper } = options;
  const settings = { ...command.environment, ...environment };
  const assignments = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  const component = createComponent({
    name,
    // env replaces itself with the program: the process id is the watcher's.
    commandLine: () => ['env', ...assignments, process.execPath, ...command.nodeFlags, bundle],
    logPath,
    reaper,
  });
  component.start();
  const procPath = (file: string): string => {
    component.assertRunning();
    return `/proc/${String(component.pid())}/${file}`;
  };
  return {
    memory: () => readMemory(readFileSync(procPath('status'), 'utf8')),
    resetPeak: () => {
      writeFileSync(procPath('clear_refs'), '5');
    },
    logLines: () => readLog(logPath),
    pid: component.pid,
    pause: component.pause,
    resume: component.resume,
    kill: component.kill,
    stop: () => component.stop(),
    assertRunning: component.assertRunning,
  };
}

function readMemory(status: string): Memory {
  const bytesOf = (field: string): number => {
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    if (kibibytes === undefined) throw new Error(`the kernel reports no ${field}`);
    return Number(kibibytes) * 1024;
  };
  return {
    peakBytes: bytesOf('VmHWM'),
    residentBytes: bytesOf('VmRSS'),
    fileBytes: bytesOf('RssFile'),
  };
}

function readLog(path: string): readonly LogLine[] {
  // The last one is empty, or half written.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
}
