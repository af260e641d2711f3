/**
 * `npm run bench -- status`: `rollcall status` over 100 clusters of 200 nodes with ten DaemonSets each, and what it costs to read.
 *
 * What the command does in its process, over the scene of support/fleet-scene.ts. `BENCH_CLUSTERS` is how many clusters there are.
 * Leaves with 1 when the first look takes longer than a second: a command is a process, and always the first.
 */
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../src/app/reconcile/process/process-cache.ts';
import { gatherFleet } from '../../src/app/status/gather-fleet.ts';
import { uncoloured } from '../../src/cli/command-line/colour.ts';
import { renderHealth } from '../../src/cli/status/status-command.ts';
import { judgeFleetHealth } from '../../src/core/status/health/fleet-health.ts';
import { clock, closeScene, reads, storeFleet, stores } from './support/fleet-scene.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const SETS = 10;
const ROUNDS = 9;
const GOAL_MS = 1000;

async function look(): Promise<readonly string[]> {
  const explaining = {
    cache: createProcessCache(),
    options: defaultReconcileOptions,
    policies: createPolicyReader(),
  };
  const fleet = await gatherFleet({}, { ...stores, clock, ...explaining });
  return renderHealth(judgeFleetHealth(fleet), false).map(uncoloured);
}

try {
  say(`storing ${String(CLUSTERS)} clusters`);
  await storeFleet({ clusters: CLUSTERS, daemonSets: SETS });
  const tookMs: number[] = [];
  const cpuMs: number[] = [];
  let lines: readonly string[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    Object.assign(reads, { requests: 0, units: 0 });
    const beganMs = clock.monotonicMs();
    const before = process.cpuUsage();
    lines = await look();
    tookMs.push(clock.monotonicMs() - beganMs);
    const { user, system } = process.cpuUsage(before);
    cpuMs.push((user + system) / 1000);
  }
  say(lines.join('\n'));
  const [firstMs = Number.NaN, ...warm] = tookMs;
  const medianMs = percentile(warm, 50);
  const [firstCpuMs = Number.NaN] = cpuMs;
  const cells = [firstMs, firstCpuMs, medianMs, reads.requests, reads.units];
  const headings = ['clusters', 'first, ms', 'its CPU, ms', 'median, ms', 'requests', 'read units'];
  const rows = [headings, [CLUSTERS, ...cells].map((cell) => cell.toFixed(0))];
  process.stdout.write(`${renderRows(rows)}\n`);
  // A command is a process: it is always the first.
  if (firstMs > GOAL_MS) process.exitCode = 1;
} finally {
  closeScene();
}
