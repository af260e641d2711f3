/**
 * Starts the local API server for the comparison, without controllers, scheduler and machines.
 */
import { createSystemClock } from '../../../src/adapters/system/system-clock.ts';
import { createSystemRandom } from '../../../src/adapters/system/system-random.ts';
import { startLocalCluster } from '../../../src/local/kubernetes/cluster/start-local-cluster.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';
import { describeServer } from './open-servers.ts';
import type { RunningServer } from './open-servers.ts';

/** Starts it; the caller owes a `stop()`. */
export async function openLocalServer(): Promise<RunningServer> {
  const local = await startLocalCluster({
    name: 'local',
    port: 0,
    machines: [],
    runsComponents: false,
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: createActivityLog().log,
  });
  const { server, caPem, tokens } = local;
  try {
    return await describeServer({
      name: 'local',
      connectionOf: (actor) => ({ server, caPem, token: tokens[actor] }),
      stop: local.stop,
    });
  } catch (error) {
    await local.stop();
    throw error;
  }
}
