/**
 * `npm run bench -- nodes`: `rollcall get nodes` over 100 clusters of 200 nodes with three DaemonSets each, and what it costs to read.
 *
 * What the command does in its process, over the scene of support/fleet-scene.ts: the first look, then looks of a process that
 * keeps what did not change, as the page's server does. Leaves with 1 when the document is larger than a megabyte.
 */
import { lookAtNodes } from '../../src/cli/status/look-at-fleet.ts';
import { printNodes } from '../../src/cli/status/node-table.ts';
import { sourcesOf } from '../../src/cli/rollout/rollout-sources.ts';
import { clock, closeScene, reads, storeFleet, stores } from './support/fleet-scene.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const SETS = 3;
const LOOKS = 4;
const BYTES_MAX = 1_000_000;

try {
  say(`storing ${String(CLUSTERS)} clusters`);
  await storeFleet({ clusters: CLUSTERS, daemonSets: SETS });
  const explaining = sourcesOf({ ...stores, clock });
  const rows = [['look', 'ms', 'CPU, ms', 'requests', 'read units', 'bytes']];
  for (let look = 1; look <= LOOKS; look += 1) {
    Object.assign(reads, { requests: 0, units: 0 });
    const beganMs = clock.monotonicMs();
    const before = process.cpuUsage();
    const seen = await lookAtNodes({ filter: {} }, { ...stores, clock }, explaining);
    const text = JSON.stringify(printNodes(seen).document);
    const { user, system } = process.cpuUsage(before);
    const tookMs = clock.monotonicMs() - beganMs;
    const numbers = [look, tookMs, (user + system) / 1000, reads.requests, reads.units];
    rows.push([...numbers, text.length].map((value) => value.toFixed(0)));
    if (text.length > BYTES_MAX) process.exitCode = 1;
  }
  process.stdout.write(`${renderRows(rows)}\n`);
} finally {
  closeScene();
}
