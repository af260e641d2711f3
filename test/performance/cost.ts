/**
 * `npm run bench -- cost [--json]`: what a cluster costs in AWS, from counted operations and list prices.
 *
 * The code that is deployed, on virtual time (test/support/model): each kind of change is made a few times, and what it
 * made the functions ask of SQS and DynamoDB is counted; so are a quiet day, rollouts over a thousand nodes in a row, and what fleets cost. The
 * months are then arithmetic (support/cost-model.ts). A quiet day is the mean of five that are drawn otherwise: what meets there
 * is chance. Durations of Lambda follow from assumed latencies: nothing was
 * measured on AWS. Leaves with 1 when a goal is missed. The same figures each time: everything is seeded.
 */
import { sumOf } from '../support/model/model-use.ts';
import { ModelWorld } from '../support/model/model-world.ts';
import type { ModelUse } from '../support/model/model-world.ts';
import { totalOf } from '../../src/core/cost/prices.ts';
import type { Dollars } from '../../src/core/cost/prices.ts';
import { GOALS, dollarsOf, monthTable, quietMonth } from './support/cost-model.ts';
import {
  countChanges,
  countHeartbeat,
  countLargeRollouts,
  countQuietDays,
} from './support/counted-changes.ts';
import {
  countFleetRelease,
  countQuietFleetDay,
  dollarsOfFleets,
  fleetMonth,
  quietFleets,
} from './support/fleet-costs.ts';
import type { FleetUse } from './support/fleet-costs.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 1000);
const QUIET_CLUSTERS = 1_000;
/** One for each DaemonSet of such a cluster. */
const QUIET_FLEETS = 10;
/** Within ten minutes: what one leaves behind, the next ones pay for. */
const ROLLOUTS = 4;
const GOAL_MISSED = 1;

const declared = new ModelWorld();
const memoryOf = declared.memoryOf.bind(declared);

say('changes …');
const changes = await countChanges();
const heartbeat = await countHeartbeat();
say('quiet days …');
const quietDay = await countQuietDays();
say(`${String(ROLLOUTS)} rollouts over ${String(NODES)} nodes, one after the other …`);
const rollouts = await countLargeRollouts(NODES, ROLLOUTS);

say('fleets …');
const fleetMegabytes = declared.declaredMegabytes('fleet');
const fleetDay = await countQuietFleetDay();
const placed = { fleets: QUIET_FLEETS, clusters: QUIET_CLUSTERS };
const noFleets = quietFleets(fleetDay, { ...placed, fleets: 0 });
const fleetTurns = fleetMonth(noFleets, fleetMegabytes);
const doneFleets = quietFleets(fleetDay, placed);
const fleetQuiet = fleetMonth(doneFleets, fleetMegabytes);
const fleetRelease = await countFleetRelease(QUIET_CLUSTERS);
const fleetReleased = dollarsOfFleets(fleetRelease, fleetMegabytes);

const quiet = quietMonth(quietDay.cluster, QUIET_CLUSTERS, memoryOf);
const rolled = rollouts.map(({ use }) => dollarsOf(use, memoryOf));
const quietEach = quietDay.each.map(({ cluster }) =>
  totalOf(quietMonth(cluster, QUIET_CLUSTERS, memoryOf)),
);
const months = monthTable({ changes, quietDay, fleetTurns, memoryOf });

function useRow(what: string, use: ModelUse): readonly string[] {
  const counted = [
    'sqsRequests',
    'readUnits',
    'writeUnits',
    'logWriteUnits',
    'invocations',
  ] as const;
  const seconds = sumOf(use, 'billedMs') / 1000;
  const perMillion = totalOf(dollarsOf(use, memoryOf)) * 1e6;
  return [
    what,
    ...counted.map((field) => sumOf(use, field).toFixed(1)),
    seconds.toFixed(2),
    perMillion.toFixed(1),
  ];
}

function fleetRow(what: string, { turns, readUnits, writeUnits }: FleetUse): readonly string[] {
  return [what, ...[turns, readUnits, writeUnits].map((count) => count.toFixed(1))];
}

function moneyRow(what: string, dollars: Dollars, digits: number): readonly string[] {
  const parts = Object.values(dollars).map((part) => part.toFixed(digits));
  return [what, ...parts, totalOf(dollars).toFixed(digits)];
}

const goals = [
  {
    what: `dollars a month of ${String(QUIET_CLUSTERS)} quiet clusters`,
    counted: totalOf(quiet),
    goal: GOALS.quietMonthDollars,
  },
  {
    what: `the same, with ${String(QUIET_FLEETS)} fleets that are done in all of them`,
    counted: totalOf(quiet) + totalOf(fleetQuiet),
    goal: GOALS.quietMonthDollars,
  },
  {
    what: 'dollars of a rollout at 10 %, the dearest',
    counted: Math.max(...rolled.map(totalOf)),
    goal: GOALS.rolloutDollars,
  },
  {
    what: 'write units of a replaced pod, the dearest',
    counted: Math.max(...rollouts.map(({ use }) => sumOf(use, 'writeUnits') / NODES)),
    goal: GOALS.writeUnitsPerPod,
  },
  {
    what: "the log's share of a rollout's write units, the largest",
    counted: Math.max(
      ...rollouts.map(({ use }) => sumOf(use, 'logWriteUnits') / sumOf(use, 'writeUnits')),
    ),
    goal: GOALS.logShare,
  },
];

if (process.argv.includes('--json')) {
  const uses = { heartbeat, ...Object.fromEntries(changes) };
  const fleets = { fleetDay, fleetTurns, fleetQuiet, fleetRelease, fleetReleased };
  const told = { uses, quietDay, quiet, rollouts, rolled, ...fleets, months };
  process.stdout.write(`${JSON.stringify(told)}\n`);
} else {
  const useHeader = [
    'change',
    'SQS requests',
    'read units',
    'write units',
    'of the log',
    'invocations',
    'seconds',
    'dollars a million',
  ];
  const uses = [
    useRow('heartbeat', heartbeat),
    ...[...changes].map(([kind, use]) => useRow(kind, use)),
    useRow('a quiet day, each cluster', quietDay.cluster),
    useRow('a quiet day, the stack', quietDay.stack),
    ...rollouts.map(({ use, seconds }, index) =>
      useRow(`rollout ${String(index + 1)} over ${String(NODES)} nodes, ${String(seconds)} s`, use),
    ),
  ];
  const moneyHeader = ['dollars', ...Object.keys(quiet), 'total'];
  const money = [
    moneyRow('quiet month', quiet, 2),
    moneyRow(`${String(QUIET_FLEETS)} fleets in it, done`, fleetQuiet, 2),
    moneyRow('no fleet: the schedule', fleetTurns, 2),
    ...rolled.map((each, index) => moneyRow(`rollout ${String(index + 1)}`, each, 4)),
    moneyRow('release of a fleet to them', fleetReleased, 4),
  ];
  const day = [
    ['fleet, a day', 'turns', 'read units', 'write units'],
    fleetRow('the schedule', fleetDay.stack),
    fleetRow('each FleetDaemonSet that is done', fleetDay.fleet),
    fleetRow('each cluster of each', fleetDay.cluster),
    fleetRow(`a release to ${String(QUIET_CLUSTERS)} clusters`, fleetRelease),
  ];
  const columns = Object.keys(months[0] ?? {});
  const fleets = months.map((month) => Object.values(month).map((value) => value.toFixed(2)));
  const parts = [
    renderRows([useHeader, ...uses]),
    renderRows(day),
    renderRows([moneyHeader, ...money]),
    renderRows([columns, ...fleets]),
    `quiet month, each of the days that were counted: ${quietEach.map((one) => one.toFixed(2)).join(', ')}`,
    renderRows([
      ['goal', 'counted', 'at most'],
      ...goals.map(({ what, counted, goal }) => [what, counted.toFixed(4), String(goal)]),
    ]),
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
}
for (const { what, counted, goal } of goals) {
  if (counted <= goal) continue;
  say(`rollcall: ${what}: ${counted.toFixed(4)}; the goal is ${String(goal)}`);
  process.exitCode = GOAL_MISSED;
}
