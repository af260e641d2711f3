/**
 * `npm run bench -- beside [--json]`: nodes join a cluster of 1,000 while another DaemonSet is rolled out there at 10 %: how much
 * longer until they have their pods than with nothing beside them.
 *
 * The code that is deployed on virtual time, with assumed latencies (test/support/model): nothing was measured on AWS, and no
 * load of this machine is in it. Leaves with 1 when a median is more than 1.5 times what it is alone (issue 16). The same
 * figures each time: everything is seeded. `BENCH_NODES` and `BENCH_JOINS` change the size.
 */
import assert from 'node:assert/strict';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { imagesOf, setImageOf } from '../support/model/model-look.ts';
import { ModelWorld, type ModelCluster } from '../support/model/model-world.ts';
import { join, type JoinTimes } from './support/model-joins.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 1000);
const JOINS = Number(process.env['BENCH_JOINS'] ?? 12);
const DAEMON_SETS = 3;
const SETTLE_MS = 10 * 60_000;
/** Between two joins. */
const APART_MS = 3_000;
/** How long pods take to end and to start: the rollout lasts longer than the joins beside it. */
const STOP_MS = [1_000, 3_000] as const;
const START_MS = [2_000, 8_000] as const;
const FACTOR_MAX = 1.5;
const GOAL_MISSED = 1;

async function settledCluster(world: ModelWorld): Promise<ModelCluster> {
  const rollingUpdate = { maxUnavailable: '10%', maxSurge: 0 };
  const spec = { updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
  const options = { name: 'large', nodes: NODES, daemonSets: DAEMON_SETS, daemonSet: { spec } };
  const cluster = await world.add(options);
  const { api, controllers } = cluster.site;
  const random = seededRandom(1);
  const between = ([fromMs, toMs]: readonly [number, number]): number =>
    fromMs + (toMs - fromMs) * random.next();
  controllers.stopDelayMs = () => between(STOP_MS);
  controllers.startDelayMs = () => between(START_MS);
  await world.clock.advance(SETTLE_MS);
  assert.equal(api.list('pods').length, NODES * DAEMON_SETS, 'not every pod was made');
  return cluster;
}

/** Nodes that join one after the other, numbered from `first`. */
async function joinSome(
  world: ModelWorld,
  cluster: ModelCluster,
  first: number,
): Promise<readonly JoinTimes[]> {
  const times: JoinTimes[] = [];
  for (let number = first; number < first + JOINS; number += 1) {
    const before = times.length;
    void join(world, cluster, { number, pods: DAEMON_SETS }).then((each) => times.push(each));
    await world.clock.advanceUntil(() => times.length > before, { withinMs: 60_000 });
    await world.clock.advance(APART_MS);
  }
  return times;
}

function medianOf(times: readonly JoinTimes[], of: keyof JoinTimes, percent = 50): number {
  const values = times.map((each) => each[of]);
  return percentile(values, percent);
}

const world = new ModelWorld();
say(`a cluster of ${String(NODES)} nodes gets its pods …`);
const cluster = await settledCluster(world);
// Functions that nobody needed for minutes are cold.
await joinSome(world, cluster, 0);
say('joins alone …');
const alone = await joinSome(world, cluster, JOINS);
say('joins beside a rollout …');
setImageOf(cluster.site, 'agent-0', 'agent-0:2');
await world.clock.advance(APART_MS);
const beside = await joinSome(world, cluster, 2 * JOINS);
const rolled = imagesOf(cluster.site).get('agent-0:2') ?? 0;
assert.ok(rolled < NODES, 'the rollout was over before the last join');
world.assertSafe();

const factors = {
  first: medianOf(beside, 'firstMs') / medianOf(alone, 'firstMs'),
  all: medianOf(beside, 'allMs') / medianOf(alone, 'allMs'),
};
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ alone, beside, factors })}\n`);
} else {
  const row = (what: string, times: readonly JoinTimes[]): readonly string[] => [
    what,
    ...(['firstMs', 'allMs'] as const).flatMap((of) =>
      [50, 95].map((percent) => medianOf(times, of, percent).toFixed(0)),
    ),
  ];
  const header = [`${String(JOINS)} joins`, 'first pod p50', 'p95', 'all pods p50', 'p95'];
  const rows = [header, row('alone', alone), row('beside a rollout', beside)];
  process.stdout.write(`${renderRows(rows)}\n`);
}
for (const [what, factor] of Object.entries(factors)) {
  if (factor <= FACTOR_MAX) continue;
  say(
    `rollcall: ${what} pods: ${factor.toFixed(2)} times as long; ${String(FACTOR_MAX)} is the goal`,
  );
  process.exitCode = GOAL_MISSED;
}
