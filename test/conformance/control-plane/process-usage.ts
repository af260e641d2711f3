/**
 * CPU time and memory of a process, read from the kernel's /proc (Linux only).
 *
 * Figures are those of the process that runs now: a restart begins again at zero. Children of
 * the process are not counted; the control plane's programs have none.
 */
import { readFileSync } from 'node:fs';

/** Linux reports process times in this unit on every architecture that Node supports. */
const CLOCK_TICKS_PER_SECOND = 100;

/** User plus system CPU time since the process began, in seconds. */
export function readCpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The program's name, in parentheses, may hold spaces: fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const userTicks = Number(fields[11]);
  const systemTicks = Number(fields[12]);
  return (userTicks + systemTicks) / CLOCK_TICKS_PER_SECOND;
}

/** Resident memory now, in bytes. */
export function readRssBytes(pid: number): number {
  const text = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  if (kibibytes === undefined) throw new Error(`process ${String(pid)} reports no VmRSS`);
  return Number(kibibytes) * 1024;
}
