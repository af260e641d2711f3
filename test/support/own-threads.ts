/**
 * How many threads of this process and of everything that it has started want a processor now, read from /proc.
 *
 * A child whose parent has ended belongs to another one by then: what was once seen to be ours stays ours, by process
 * id and time of its start. One that was never seen beside its parent is taken for somebody else's. Where there is no
 * /proc, nothing is ours.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface OwnThreads {
  readonly countRunnable: () => number;
}

/** A process as the table has it. */
interface Entry {
  readonly pid: number;
  readonly parentPid: number;
  readonly startedAt: string;
}

/** Begins to count, for the process `rootPid`. */
export function createOwnThreads({
  procDirectory = '/proc',
  rootPid = process.pid,
}: { readonly procDirectory?: string; readonly rootPid?: number } = {}): OwnThreads {
  const known = new Set<string>();
  return {
    countRunnable: () => {
      const entries = readEntries(procDirectory);
      const own = treeOf(entries, (entry) => entry.pid === rootPid || known.has(keyOf(entry)));
      known.clear();
      for (const entry of own) known.add(keyOf(entry));
      return own.reduce((sum, { pid }) => sum + runnableThreads(procDirectory, pid), 0);
    },
  };
}

/** Those that are roots, and all that descends from them. */
function treeOf(entries: readonly Entry[], isRoot: (entry: Entry) => boolean): readonly Entry[] {
  const children = Map.groupBy(entries, ({ parentPid }) => parentPid);
  const found = new Map<number, Entry>();
  const left = entries.filter(isRoot);
  for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
    if (found.has(entry.pid)) continue;
    found.set(entry.pid, entry);
    left.push(...(children.get(entry.pid) ?? []));
  }
  return [...found.values()];
}

function keyOf({ pid, startedAt }: Entry): string {
  return `${String(pid)} ${startedAt}`;
}

function readEntries(procDirectory: string): readonly Entry[] {
  return namesIn(procDirectory).flatMap((name) => {
    const fields = readStat(join(procDirectory, name));
    const [, parentPid = ''] = fields;
    return fields.length === 0
      ? []
      : [{ pid: Number(name), parentPid: Number(parentPid), startedAt: fields[19] ?? '' }];
  });
}

function runnableThreads(procDirectory: string, pid: number): number {
  const tasks = join(procDirectory, String(pid), 'task');
  return namesIn(tasks).filter((name) => readStat(join(tasks, name))[0] === 'R').length;
}

/** The fields after the program's name, which may hold spaces and parentheses; none for one that has just gone. */
function readStat(directory: string): readonly string[] {
  const text = orNothing(() => readFileSync(join(directory, 'stat'), 'utf8'), '');
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function namesIn(directory: string): readonly string[] {
  const names = orNothing(() => readdirSync(directory), []);
  return names.filter((name) => /^\d+$/.test(name));
}

/** Processes come and go while their table is read. */
function orNothing<Value>(read: () => Value, nothing: Value): Value {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return nothing;
    throw error;
  }
}
