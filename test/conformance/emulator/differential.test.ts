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
import { openRealServer, type RunningServer, describeServer } from './open-servers.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';

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

/** Starts it; the caller owes a `stop()`. */
async function openLocalServer(): Promise<RunningServer> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'rollcall-emulator-'));
  const start = (): Promise<LocalCluster> =>
    startLocalCluster({
      name: 'local',
      port: 0,
      machines: [],
      runsComponents: false,
      dataDirectory,
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: createActivityLog().log,
    });
  // As with the real one: only a server that has been restarted has no history.
  await (await start()).stop();
  const local = await start();
  const { server, caPem, tokens } = local;
  const stop = async (): Promise<void> => {
    await local.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
  try {
    return await describeServer({
      name: 'local',
      connectionOf: (actor) => ({ server, caPem, token: tokens[actor] }),
      stop,
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
