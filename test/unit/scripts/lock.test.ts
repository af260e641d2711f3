/** The lock between installs and builds: one holder at a time, and a dead holder's lock is taken over. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { withLock } from '../../../scripts/lib/lock.mjs';

/** Larger than any pid that a system gives out. */
const DEAD_PID = 2 ** 30;

describe('withLock', () => {
  let directory = '';
  let file = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-lock-'));
    file = path.join(directory, 'install.lock');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('lets one work at a time, and leaves nothing behind', async () => {
    let inside = 0;
    let insideMax = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      insideMax = Math.max(insideMax, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all([withLock(file, work), withLock(file, work), withLock(file, work)]);
    assert.equal(insideMax, 1);
    assert.equal(existsSync(file), false);
  });

  for (const [holder, held] of [
    ['died', `${DEAD_PID}\n`],
    ['died between making and writing it', ''],
  ] as const) {
    it(`takes over the lock of a holder that ${holder} and fell silent`, async () => {
      writeFileSync(file, held);
      const minuteAgo = new Date(Date.now() - 60_000);
      utimesSync(file, minuteAgo, minuteAgo);
      const content = await withLock(file, async () => readFileSync(file, 'utf8'));
      assert.equal(content, `${process.pid}\n`);
    });
  }

  it('names the child whose life counts as the holder, and frees the lock when the work fails', async () => {
    const failing = withLock(file, async (onChild) => {
      onChild(DEAD_PID);
      assert.equal(readFileSync(file, 'utf8'), `${process.pid}\n${DEAD_PID}\n`);
      throw new Error('install failed');
    });
    await assert.rejects(failing, /install failed/);
    assert.equal(existsSync(file), false);
  });
});
