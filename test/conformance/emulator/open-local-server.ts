/**
 * Starts the local API server for the comparison, without controllers, scheduler and machines.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';
import { describeServer, type RunningServer } from './open-servers.ts';

/** Starts it; the caller owes a `stop()`. */
export async function openLocalServer(): Promise<RunningServer> {
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
