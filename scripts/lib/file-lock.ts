/**
 * A lock between processes of one machine: a file that holds its owner's process id.
 *
 * A lock whose owner is gone is taken over. Two takers may, in a narrow window, both believe
 * that they hold it; callers must therefore stay correct without it (build.ts renames a whole
 * directory into place) and use it only to save work.
 */
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_PERIOD_MS = 500;

/** Waits for the lock at `path` and returns the function that gives it back. */
export async function acquireFileLock(path: string): Promise<() => Promise<void>> {
  let waiting = false;
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => unlink(path);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    if (await isAbandoned(path)) {
      await unlink(path).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
      continue;
    }
    if (!waiting) process.stderr.write(`waiting for another process that holds ${path}\n`);
    waiting = true;
    await delay(POLL_PERIOD_MS);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const owner = Number.parseInt(await readFile(path, 'utf8'), 10);
    // Empty: its owner is between creating and writing it.
    return Number.isInteger(owner) && !isAlive(owner);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
