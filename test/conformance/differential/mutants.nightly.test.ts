/**
 * The comparison can fail: three deliberate errors, planted while the source is loaded (mutants.ts), are each
 * caught within ten scenarios. Each runs in a process of its own, with control planes of its own.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { MUTANTS } from '../../differential/mutants.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const SCENARIOS_MAX = 10;
const SEED = 7;
const TIMEOUT_MS = 1_700_000;

const run = promisify(execFile);
const skip = skipWithoutTools([TOOLS.go]);

describe('a deliberate error', { skip, timeout: 4 * TIMEOUT_MS }, () => {
  for (const name of Object.keys(MUTANTS)) {
    it(`(${name}) is caught within ${SCENARIOS_MAX} scenarios`, async (context) => {
      const { stdout } = await run(
        process.execPath,
        [
          repositoryPath('test/differential/run.ts'),
          ...['--mutant', name, '--seed', String(SEED), '--scenarios', String(SCENARIOS_MAX)],
          ...['--at-once', String(SCENARIOS_MAX)],
        ],
        { timeout: TIMEOUT_MS, maxBuffer: 2 ** 28 },
      );
      const caught = /^mutant .* was caught by .*$/m.exec(stdout)?.[0];
      assert.ok(caught !== undefined, stdout);
      context.diagnostic(caught);
    });
  }
});
