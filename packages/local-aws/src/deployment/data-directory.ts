// The directory in which the local AWS keeps its data: made if absent, and held by one process at a time.
//
// The lock is a file with the holder's process id. A holder that was killed leaves it behind; it is taken over when
// no process has that id any more. An id that was given to another process since is the one case in which a person
// must remove the file, and the error says so.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

/** A held data directory. */
export interface DataDirectory {
  readonly path: string;
  release(): void;
}

/** Takes a data directory for this process. */
export function holdDataDirectory(directory: string): DataDirectory {
  mkdirSync(directory, { recursive: true });
  const lockFile = path.join(directory, 'lock');
  if (!createLock(lockFile)) {
    const holder = Number(readFileSync(lockFile, 'utf8'));
    if (holder !== process.pid && isAlive(holder)) {
      throw new Error(
        `The data directory ${directory} is in use by process ${holder}. Stop it first; if it is no rollcall, remove ${lockFile}.`,
      );
    }
    rmSync(lockFile, { force: true });
    if (!createLock(lockFile)) throw new Error(`Another process is taking ${directory} right now.`);
  }
  return {
    path: directory,
    release: () => {
      rmSync(lockFile, { force: true });
    },
  };
}

function createLock(lockFile: string): boolean {
  try {
    const descriptor = openSync(lockFile, 'wx');
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(processId: number): boolean {
  if (!Number.isInteger(processId) || processId <= 0) return false;
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
