/**
 * `npm run bench -- aws-model [--json]`: how long a join would take on AWS, and how many the deployment carries: a model.
 *
 * The code that is deployed on virtual time (test/support/model), with latencies of Lambda, SQS, DynamoDB and API servers
 * that are assumed from published figures and printed with the result. Nothing was measured on AWS. Nodes join a fleet of
 * 1, 100 and 1,000 clusters of ten DaemonSets, five a minute in all of it; then as many a second as are offered, and what
 * one join keeps `reconcile` busy is divided into its places. Leaves with 1 when fewer than 50 joins a second are carried.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import {
  ASSUMED_CPU_MS,
  ASSUMED_LATENCIES,
  IDLE_ENVIRONMENT_MS,
} from '../support/model/assumed-latencies.ts';
import { usedBetween } from '../support/model/model-use.ts';
import type { ModelWorld } from '../support/model/model-world.ts';
import { join, settledFleet, type JoinTimes } from './support/model-joins.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const FLEETS = (process.env['BENCH_FLEETS'] ?? '1,100,1000').split(',').map(Number);
const JOINS = Number(process.env['BENCH_JOINS'] ?? 60);
const NODES = 1;
const DAEMON_SETS = 10;
const JOINS_PER_MINUTE = 5;
/** Joins a second that are offered to a fleet, one rate after the other. */
const RATES = (process.env['BENCH_RATES'] ?? '50').split(',').map(Number);
const CAPACITY_CLUSTERS = 100;
const OFFERED_SECONDS = 8;
/** Functions are cold: environments are gone after five minutes. */
const QUIET_BETWEEN_MS = 20 * 60_000;
const FIRST_JOINS = Math.ceil(JOINS / 4);
const CAPACITY_GOAL = 50;
const GOAL_MISSED = 1;

interface Offer {
  readonly joins: number;
  readonly everyMs: number;
}

/** Lets nodes join clusters drawn by the seed, evenly; resolves when all have their pods. */
async function offer(world: ModelWorld, { joins, everyMs }: Offer): Promise<readonly JoinTimes[]> {
  const { clock } = world;
  const random = seededRandom(joins);
  const clusters = [...world.clusters.values()];
  const times: JoinTimes[] = [];
  const begin = async (number: number): Promise<void> => {
    await clock.sleep(number * everyMs + everyMs * random.next());
    const cluster = clusters[Math.floor(random.next() * clusters.length)];
    if (cluster === undefined) throw new Error('there is no cluster');
    times.push(await join(world, cluster, { number, pods: DAEMON_SETS }));
  };
  let isOver = false;
  void Promise.all(Array.from({ length: joins }, (_, number) => begin(number))).then(() => {
    isOver = true;
  });
  await clock.advanceUntil(() => isOver, { withinMs: joins * everyMs + 600_000 });
  return times;
}

/** Median and 95th percentile of one time of each join. */
function spread(times: readonly JoinTimes[], of: keyof JoinTimes): readonly [number, number] {
  const values = times.map((each) => each[of]);
  return [percentile(values, 50), percentile(values, 95)];
}

interface Row {
  readonly what: string;
  readonly joins: number;
  readonly firstMs: readonly [p50: number, p95: number];
  readonly allMs: readonly [p50: number, p95: number];
  /** Of a join, above what the quiet fleet does in the same time. */
  readonly coldStarts: number;
  readonly invocations: number;
  readonly apiRequests: number;
  /** What a join keeps all environments of `reconcile` busy, together. */
  readonly reconcileSeconds: number;
}

const CALLED = ['ingest', 'reconcile', 'requeue'] as const;

/** Joins at this pace, beside what the fleet does anyway. */
async function row(world: ModelWorld, what: string, { joins, everyMs }: Offer): Promise<Row> {
  say(`${what} …`);
  const quietBefore = world.use;
  await world.clock.advance(joins * everyMs);
  const before = world.use;
  const quiet = usedBetween(quietBefore, before, joins);
  const times = await offer(world, { joins, everyMs });
  // What follows the last pod: it becomes ready, statuses are written.
  await world.clock.advance(10_000);
  const used = usedBetween(before, world.use, joins);
  world.assertSafe();
  const more = (field: 'coldStarts' | 'invocations' | 'apiRequests'): number =>
    CALLED.reduce((sum, name) => sum + used[name][field] - quiet[name][field], 0);
  return {
    what,
    joins,
    firstMs: spread(times, 'firstMs'),
    allMs: spread(times, 'allMs'),
    coldStarts: more('coldStarts'),
    invocations: more('invocations'),
    apiRequests: more('apiRequests'),
    reconcileSeconds: (used.reconcile.billedMs - quiet.reconcile.billedMs) / 1000,
  };
}

const everyMs = 60_000 / JOINS_PER_MINUTE;
const rows: Row[] = [];
const alone = await settledFleet({ clusters: 1, nodes: NODES, daemonSets: DAEMON_SETS }, {});
rows.push(
  await row(alone, '1 cluster, each after 20 quiet minutes', {
    joins: FIRST_JOINS,
    everyMs: QUIET_BETWEEN_MS,
  }),
);
for (const clusters of FLEETS) {
  say(`${String(clusters)} clusters get their pods …`);
  const world = await settledFleet({ clusters, nodes: NODES, daemonSets: DAEMON_SETS }, {});
  const what = `${String(clusters)} clusters, ${String(JOINS_PER_MINUTE)} a minute`;
  rows.push(await row(world, what, { joins: JOINS, everyMs }));
}
const shape = { clusters: CAPACITY_CLUSTERS, nodes: NODES, daemonSets: DAEMON_SETS };
const busy = await settledFleet(shape, {});
const loaded: Row[] = [];
for (const rate of RATES) {
  const offered = { joins: rate * OFFERED_SECONDS, everyMs: 1000 / rate };
  loaded.push(await row(busy, `${String(rate)} a second`, offered));
  await busy.clock.advance(60_000);
}

const places = busy.placesOf('reconcile');
const capacityOf = ({ reconcileSeconds }: Row): number => places / reconcileSeconds;
const calm = rows.at(-1);
const counted = calm === undefined ? Number.NaN : capacityOf(calm);
// Under load more hints of a key fold, and environments are fuller: the highest rate tells what is carried.
const modelled = Math.max(...loaded.map(capacityOf));

if (process.argv.includes('--json')) {
  const assumed = { latencies: ASSUMED_LATENCIES, cpuMs: ASSUMED_CPU_MS, IDLE_ENVIRONMENT_MS };
  process.stdout.write(`${JSON.stringify({ assumed, rows, loaded, places, counted, modelled })}\n`);
} else {
  const assumed = Object.values(ASSUMED_LATENCIES).map(({ what, p50Ms, p99Ms }) => [
    what,
    String(p50Ms),
    String(p99Ms),
  ]);
  const both = ([p50, p95]: readonly [number, number]): string =>
    `${p50.toFixed(0)} / ${p95.toFixed(0)}`;
  const texts = [...rows, ...loaded].map((each) => [
    each.what,
    both(each.firstMs),
    both(each.allMs),
    each.coldStarts.toFixed(1),
    each.invocations.toFixed(1),
    each.apiRequests.toFixed(1),
    each.reconcileSeconds.toFixed(2),
    capacityOf(each).toFixed(0),
  ]);
  const header = [
    'joins',
    'first pod p50 / p95 ms',
    'all ten p50 / p95 ms',
    'cold starts',
    'invocations',
    'API requests',
    's of reconcile',
    'joins/s in all places',
  ];
  const parts = [
    renderRows([['assumed, milliseconds', 'p50', 'p99'], ...assumed]),
    `milliseconds of a whole processor: ${JSON.stringify(ASSUMED_CPU_MS)}`,
    renderRows([header, ...texts]),
    renderRows([
      [`joins a second in ${String(places)} places`, '', 'at least'],
      ['by counted work, calm', counted.toFixed(0), ''],
      ['by the model, under load', modelled.toFixed(0), String(CAPACITY_GOAL)],
    ]),
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
}
if (!(Math.min(counted, modelled) >= CAPACITY_GOAL)) {
  say(
    `rollcall: ${counted.toFixed(0)} and ${modelled.toFixed(0)} joins a second; the goal is ${String(CAPACITY_GOAL)}`,
  );
  process.exitCode = GOAL_MISSED;
}
