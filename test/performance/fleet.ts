/**
 * `npm run bench -- fleet`: what a step of a fleet reads and writes among 10,000 registered clusters, for stages of 1, 100 and 1,000.
 *
 * Counts, not times: the real steps over model clusters and tables in memory, a turn each minute. Items: a batch of records is as many as
 * it has. A step costs its stage; dealing out costs the fleet, and is done when a rollout begins and when a registration changed.
 */
import { measureSteps } from '../support/fleet-simulation/step-costs.ts';
import { renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 10_000);
const SIZES = [1, 100, 1000];

const costs = await measureSteps(CLUSTERS, SIZES);
const rows = costs.map(({ stage, turns, tableReads, viewReads, writes, requests }) => [
  stage,
  String(turns),
  ...[tableReads, viewReads, writes, requests].map((count) => count.toFixed(1)),
]);
const head = ['', 'turns', 'table reads', 'view reads', 'writes', 'requests'];
process.stdout.write(
  `${String(CLUSTERS)} clusters, means of a turn\n${renderRows([head, ...rows])}\n`,
);
