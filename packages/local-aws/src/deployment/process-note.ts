/**
 * A note of which process holds a file, and whether that process still runs.
 *
 * Ids are given out again, after a reboot from the beginning, so the note says when the process began as well, and on Linux in
 * which boot and which process namespace. What cannot be judged from here (another container's) counts as running.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';

const NOTHING = '-';
const HAS_PROC = existsSync('/proc/self/stat');
/** After the name in brackets of /proc/PID/stat, which may hold blanks. */
const STATE_INDEX = 0;
const STARTED_INDEX = 19;
const ENDED_STATES = ['Z', 'X'];

/** The note of this process, for a file. */
export function noteOfThisProcess(): string {
  const { boot, namespace } = surroundings();
  return [process.pid, boot, namespace, startOf(process.pid) ?? NOTHING].join(' ');
}

/** The process id in a note; undefined: it holds none. */
export function processIdIn(note: string): number | undefined {
  const id = Number(note.trim().split(' ')[0]);
  return Number.isInteger(id) && id > 0 ? id : undefined;
}

/** Whether the process that wrote it still runs; a note of an id alone is judged by that. */
export function isNotedProcessRunning(note: string): boolean {
  const id = processIdIn(note);
  if (id === undefined) return false;
  const [, boot, namespace, start] = note.trim().split(' ');
  const here = surroundings();
  if (boot !== undefined && boot !== here.boot) return false;
  if (namespace !== undefined && namespace !== here.namespace) return true;
  if (!isIdInUse(id)) return false;
  const startNow = startOf(id);
  if (startNow === 'ended') return false;
  return start === undefined || startNow === undefined || startNow === start;
}

function surroundings(): { readonly boot: string; readonly namespace: string } {
  if (!HAS_PROC) return { boot: NOTHING, namespace: NOTHING };
  return {
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    namespace: readlinkSync('/proc/self/ns/pid'),
  };
}

/** When a process began, in whatever unit the system tells; `ended`: its parent has not asked for its end; undefined: untold. */
function startOf(id: number): string | undefined {
  try {
    if (!HAS_PROC) {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
      const told = execFileSync('ps', ['-o', 'lstart=', '-p', String(id)], { env }).toString();
      return told.trim().replaceAll(/\s+/g, '_');
    }
    const stat = readFileSync(`/proc/${String(id)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ENDED_STATES.includes(fields[STATE_INDEX] ?? '') ? 'ended' : fields[STARTED_INDEX];
  } catch {
    return undefined; // it ended meanwhile, or is hidden from this user
  }
}

function isIdInUse(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
