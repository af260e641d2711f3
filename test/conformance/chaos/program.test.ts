/**
 * A program that is kept running: an end that nobody asked for is counted, a start in vain by itself.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { createProgram, IN_VAIN_CODE, type Program } from './program.ts';

describe('createProgram', () => {
  const reaper = startReaper();
  after(() => reaper.close());
  let directory: string;
  let program: Program | undefined;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rollcall-program-'));
  });
  afterEach(async () => {
    await program?.end();
    await rm(directory, { recursive: true });
  });

  /** Keeps a program running that does this, until it has ended twice. */
  async function endTwice(script: string): Promise<Program> {
    const kept = createProgram({
      name: 'kept',
      commandLine: () => [process.execPath, '-e', script],
      logPath: join(directory, 'kept.log'),
      reaper,
    });
    program = kept;
    kept.start();
    await pollUntil({ deadlineMs: 60_000, description: 'two ends' }, () =>
      kept.ownEnds() + kept.startsInVain() >= 2 ? true : undefined,
    );
    return kept;
  }

  it('counts each end by itself, whatever it says, as a failure', async () => {
    for (const script of ['process.exit(0)', 'process.exit(1)', 'process.kill(process.pid, 9)']) {
      const kept = await endTwice(script);
      assert.equal(kept.startsInVain(), 0, script);
      await kept.end();
    }
  });

  it('counts a start in vain by itself', async () => {
    const kept = await endTwice(`process.exit(${String(IN_VAIN_CODE)})`);
    assert.equal(kept.ownEnds(), 0);
  });
});
