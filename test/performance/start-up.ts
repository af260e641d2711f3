/**
 * `npm run bench -- start-up`: nodes join with the start-up taint, ten DaemonSets serve: how long from the last pod's Ready on a
 * node to the taint's absence, as an independent watch of its API server sees both (ADR 0089).
 *
 * The simulation on virtual time (test/support/simulation), with the deployed code: requests take 2 ms, queues a millisecond, and
 * work takes none. So it shows what Rollcall waits for, not what a processor needs; the machine's load changes nothing. Each size
 * joins at one instant, then a node each second. `BENCH_NODES` is a list of sizes. Leaves with 1 where a taint takes a second, or
 * goes before the last Ready.
 */
import { enterStartUp } from '../support/simulation/start-up-world.ts';
import { World } from '../support/simulation/world.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const SIZES = (process.env['BENCH_NODES'] ?? '100,1000').split(',').map(Number);
const DAEMON_SETS = 10;
const GOAL_MS = 1_000;
const DEADLINE_MS = 120_000;

interface Row {
  readonly nodes: number;
  readonly everyMs: number;
  readonly delaysMs: readonly number[];
  readonly messages: number;
}

/** Nodes join a cluster of one node, each so long after the one before. */
async function measure(nodes: number, everyMs: number): Promise<Row> {
  say(`${String(nodes)} nodes, ${everyMs === 0 ? 'at one instant' : 'one each second'} …`);
  const world = await World.start();
  const waitedFor = await enterStartUp(world, 'labelled');
  for (let set = 0; set < DAEMON_SETS; set += 1)
    world.addDaemonSet(`agent-${String(set)}`, waitedFor);
  world.addNode('first');
  await world.settle();
  const { delaysMs } = world.site.startUps;
  const before = delaysMs.length;
  const fromLine = world.trace.length;
  for (let index = 0; index < nodes; index += 1) {
    world.addNode(`joins-${String(index)}`);
    await world.advance(everyMs);
  }
  await world.clock.advanceUntil(() => delaysMs.length === before + nodes, {
    withinMs: DEADLINE_MS,
  });
  world.assertSafe();
  const messages = world.trace.slice(fromLine).filter((line) => line.endsWith('ingest applied'));
  const row = { nodes, everyMs, delaysMs: delaysMs.slice(before), messages: messages.length };
  say(cellsOf(row).join('  '));
  return row;
}

function cellsOf({ nodes, everyMs, delaysMs, messages }: Row): readonly string[] {
  const join = everyMs === 0 ? 'at one instant' : 'one each second';
  const shares = [50, 99, 100].map((share) => percentile(delaysMs, share).toFixed(0));
  return [String(nodes), join, ...shares, String(messages)];
}

const rows: Row[] = [];
for (const nodes of SIZES) {
  for (const everyMs of [0, 1_000]) rows.push(await measure(nodes, everyMs));
}
const headings = ['nodes', 'join', 'median, ms', 'p99, ms', 'max, ms', 'messages'];
process.stdout.write(`${renderRows([headings, ...rows.map(cellsOf)])}\n`);
if (rows.some(({ delaysMs }) => Math.max(...delaysMs) >= GOAL_MS)) process.exitCode = 1;
