/**
 * A lock file between processes that survives crashes: a dead holder's lock is taken over.
 *
 * The file holds the pids of the holder and of its child, and is touched every two seconds while held. It counts as
 * abandoned when it was not touched for twenty seconds and none of its pids is alive; after fifteen minutes without a
 * touch the pids are not asked any more, since they may have been given to other processes after a reboot.
 * Taking over is a rename, so of two processes that try it, one finds nothing to rename. Does not queue fairly.
 */
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const TOUCH_INTERVAL_MS = 2_000;
const SILENCE_MAX_MS = 20_000;
const SILENCE_WITH_LIVE_PID_MAX_MS = 15 * 60_000;
const RETRY_INTERVAL_MS = 250;

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {string} text */
function pidsIn(text) {
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0);
}

/** @param {string} file */
function isAbandoned(file) {
  const silenceMs = Date.now() - statSync(file).mtimeMs;
  if (silenceMs < SILENCE_MAX_MS) return false;
  if (silenceMs > SILENCE_WITH_LIVE_PID_MAX_MS) return true;
  return !pidsIn(readFileSync(file, 'utf8')).some(isAlive);
}

/** @param {string} file */
function tryCreate(file) {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new Error(`cannot write the lock ${file}`, { cause: error });
  }
}

/** @param {string} file */
function removeIfAbandoned(file) {
  try {
    if (!isAbandoned(file)) return;
    const taken = `${file}.${process.pid}.abandoned`;
    renameSync(file, taken);
    rmSync(taken, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** @param {string} file */
async function acquire(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  let isAnnounced = false;
  while (!tryCreate(file)) {
    if (!isAnnounced) console.error(`rollcall: waiting for another process to end (${file})`);
    isAnnounced = true;
    removeIfAbandoned(file);
    await delay(RETRY_INTERVAL_MS);
  }
}

/**
 * Runs the work while holding the lock; the work may name a child whose life counts as the holder's.
 *
 * @template T
 * @param {string} file
 * @param {(onChild: (childPid: number | undefined) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  await acquire(file);
  const touch = setInterval(() => {
    const now = new Date();
    utimesSync(file, now, now);
  }, TOUCH_INTERVAL_MS);
  try {
    return await work((childPid) => writeFileSync(file, `${process.pid}\n${childPid ?? ''}\n`));
  } finally {
    clearInterval(touch);
    rmSync(file, { force: true });
  }
}
