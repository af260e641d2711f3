/**
 * The local API server answers as the real one does: seeded requests to both, equal but for a published list.
 *
 * That two real servers do not differ in this comparison is played at night (twins.nightly.test.ts).
 *
 * Replay: the failure prints `EMULATOR_SEED=… EMULATOR_EPISODE=… EMULATOR_KEEP=…` and the command.
 * More: EMULATOR_STEPS=100000 and another EMULATOR_SEED.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { readAllowed } from './allowed.ts';
import { compareServers, faultsOfList, type DifferentialReport } from './differential.ts';
import { openLocalServer } from './open-local-server.ts';
import { openRealServer, type RunningServer } from './open-servers.ts';

const SEED = Number(process.env['EMULATOR_SEED'] ?? '20261121');
const STEPS_COUNT = Number(process.env['EMULATOR_STEPS'] ?? '5000');
const EPISODE = process.env['EMULATOR_EPISODE'];
const KEEP = process.env['EMULATOR_KEEP'];

const skip = skipWithoutTools([TOOLS.go]);
const title = `the local API server beside the real one (seed ${SEED})`;

describe(title, { skip, timeout: 1_700_000 }, () => {
  const running: RunningServer[] = [];
  let real: RunningServer;

  before(async () => {
    real = await openRealServer('real');
    running.push(real);
  });
  after(async () => {
    for (const server of running) await server.stop();
  });

  it(`answers ${STEPS_COUNT} requests alike, but for the published list`, async (context) => {
    const local = await openLocalServer();
    running.push(local);
    const allowed = readAllowed();
    const report = await compareServers({
      servers: { left: real.server, right: local.server },
      seed: SEED,
      prefix: 'e',
      stepsCount: STEPS_COUNT,
      allowed,
      ...(EPISODE === undefined ? {} : { episode: Number(EPISODE) }),
      ...(KEEP === undefined ? {} : { keep: new Set(KEEP.split(',').map(Number)) }),
    });
    context.diagnostic(
      `${report.stepsPlayed} requests, ${report.allowedCount} allowed differences`,
    );
    assert.equal(report.unlisted.join('\n'), '');
    assert.deepEqual(faultsOfList(allowed), []);
    if (EPISODE === undefined)
      assert.deepEqual(unusedOf(report), [], 'entries that no longer occur');
  });
});

function unusedOf(report: DifferentialReport): string[] {
  return report.unused.map(({ verb, resource, field }) => `${verb} × ${resource} × ${field}`);
}
