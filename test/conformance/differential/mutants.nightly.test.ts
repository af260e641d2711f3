/**
 * The comparison can fail: deliberate errors, planted while the source is loaded (mutants.ts), are each caught within
 * ten scenarios. Each runs in a process of its own, one after the other, on one pair of control planes.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { MUTANTS } from '../../differential/mutants.ts';
import { startPlanes, writePlanes, type StartedPlanes } from '../../differential/planes.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const SCENARIOS_MAX = 10;
const SEED = 7;
const TIMEOUT_MS = 900_000;

const run = promisify(execFile);
const skip = skipWithoutTools([TOOLS.go]);
const names = Object.keys(MUTANTS);

describe('a deliberate error', { skip, timeout: (names.length + 1) * TIMEOUT_MS }, () => {
  let started: StartedPlanes;
  let directory: string;

  before(async () => {
    started = await startPlanes();
    directory = await mkdtemp(join(tmpdir(), 'rollcall-differential-planes-'));
    writePlanes(join(directory, 'planes.json'), started.planes);
  });
  after(async () => {
    await started.stop();
    await rm(directory, { recursive: true, force: true });
  });

  for (const [index, name] of names.entries()) {
    it(`(${name}) is caught within ${SCENARIOS_MAX} scenarios`, async (context) => {
      const { stdout } = await run(
        process.execPath,
        [
          repositoryPath('test/differential/run.ts'),
          ...['--mutant', name, '--seed', String(SEED), '--scenarios', String(SCENARIOS_MAX)],
          ...['--at-once', String(SCENARIOS_MAX)],
          ...['--planes', join(directory, 'planes.json'), '--place-prefix', `m${index}s`],
        ],
        { timeout: TIMEOUT_MS, maxBuffer: 2 ** 28 },
      );
      const caught = /^mutant .* was caught by .*$/m.exec(stdout)?.[0];
      assert.ok(caught !== undefined, stdout);
      context.diagnostic(caught);
    });
  }
});
