/**
 * What the function `fleet` costs while nothing is released, and what a release costs beside the clusters' own rollouts.
 *
 * Counted by its real steps over model clusters, with tables in memory: items, of which each read is a unit (all are strongly consistent
 * and below 4 KB) and each write two, which records compressed to less than 2 KB are. A page of a list of members has 500 names, and is
 * three units to read and ten to write. Its time is assumed: requests one after the other, and some of a processor for each item.
 */
import { ASSUMED_CPU_MS, ASSUMED_LATENCIES } from '../../support/model/assumed-latencies.ts';
import { PROCESSOR_MEGABYTES } from '../../support/model/assumed-latencies.ts';
import { measureSteps } from '../../support/fleet-simulation/step-costs.ts';
import { many, openSite } from '../../support/fleet-simulation/small-site.ts';
import { MONTH_HOURS, PRICES, type Dollars } from '../../../src/core/cost/prices.ts';

/** Of some turns. */
export interface FleetUse {
  readonly turns: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly items: number;
}

/** A quiet day: of the stack, of each FleetDaemonSet that is done, and of each cluster where one is. */
export interface QuietFleetDay {
  readonly stack: FleetUse;
  readonly fleet: FleetUse;
  readonly cluster: FleetUse;
}

const DAY_TURNS = 24 * 60;
const DAYS = MONTH_HOURS / 24;
const FEW = 50;
const MORE = 150;
/** A look at the lists of FleetDaemonSets and of their records. */
const LOOKS_A_TURN = 2;
const READ_UNITS: Readonly<Record<string, number>> = { readMembers: 3 };
const WRITE_UNITS: Readonly<Record<string, number>> = {
  writeRecord: 2,
  writeClusterRecord: 2,
  writeMembers: 10,
  removeMembersBut: 10,
};
/** Milliseconds of a whole processor: decoding an item, of which a request reads a hundred. */
const ITEM_MS = 0.3;
const LOG_KB_PER_TURN = 1;

/** Counts it: what grows with the clusters is told by two sizes. */
export async function countQuietFleetDay(): Promise<QuietFleetDay> {
  const few = await dayOf(FEW);
  const more = await dayOf(MORE);
  const of = (part: 'readUnits' | 'writeUnits' | 'items'): number =>
    (more[part] - few[part]) / (MORE - FEW);
  const cluster = {
    turns: 0,
    readUnits: of('readUnits'),
    writeUnits: of('writeUnits'),
    items: of('items'),
  };
  const looks = LOOKS_A_TURN * DAY_TURNS;
  const stack = { turns: DAY_TURNS, readUnits: looks, writeUnits: 0, items: looks };
  const rest = (part: 'readUnits' | 'writeUnits' | 'items'): number =>
    few[part] - FEW * cluster[part] - stack[part];
  const fleet = {
    turns: 0,
    readUnits: rest('readUnits'),
    writeUnits: rest('writeUnits'),
    items: rest('items'),
  };
  return { stack, fleet, cluster };
}

/** A day of one FleetDaemonSet that is done in so many clusters. */
async function dayOf(clusters: number): Promise<FleetUse> {
  const site = await openSite(many(clusters));
  site.items.clear();
  for (let turn = 0; turn < DAY_TURNS; turn += 1) await site.turn();
  const counted = [...site.items];
  const sum = (of: (operation: string) => number): number =>
    counted.reduce((total, [operation, count]) => total + count * of(operation), 0);
  return {
    turns: DAY_TURNS,
    readUnits: sum((operation) => (operation in WRITE_UNITS ? 0 : (READ_UNITS[operation] ?? 1))),
    writeUnits: sum((operation) => WRITE_UNITS[operation] ?? 0),
    items: sum(() => 1),
  };
}

/** So many FleetDaemonSets that are done in so many clusters each; none: the schedule alone. A day. */
export function quietFleets(
  { stack, fleet, cluster }: QuietFleetDay,
  { fleets, clusters }: { readonly fleets: number; readonly clusters: number },
): FleetUse {
  const of = (part: keyof FleetUse): number =>
    stack[part] + fleets * (fleet[part] + clusters * cluster[part]);
  return {
    turns: of('turns'),
    readUnits: of('readUnits'),
    writeUnits: of('writeUnits'),
    items: of('items'),
  };
}

/** A release to so many clusters: one, a tenth, the rest, each with a soak of ten minutes. */
export async function countFleetRelease(clusters: number): Promise<FleetUse> {
  const tenth = Math.round(clusters / 10);
  const steps = await measureSteps(clusters, [1, tenth, clusters - 1 - tenth]);
  const sum = (of: (step: (typeof steps)[number]) => number): number =>
    steps.reduce((total, step) => total + step.turns * of(step), 0);
  const writes = sum((step) => step.writes);
  const reads = sum((step) => step.tableReads + step.viewReads);
  return {
    turns: sum(() => 1),
    readUnits: reads,
    writeUnits: 2 * writes,
    items: reads + writes,
  };
}

/** What a use costs, `times` over: a month is so many days. */
export function dollarsOfFleets(use: FleetUse, memoryMegabytes: number, times = 1): Dollars {
  const slower = PROCESSOR_MEGABYTES / memoryMegabytes;
  const turnMs =
    ASSUMED_LATENCIES.query.p50Ms +
    (ASSUMED_CPU_MS.invocation + LOOKS_A_TURN * ASSUMED_CPU_MS.awsRequest) * slower;
  const seconds = (use.turns * turnMs + use.items * ITEM_MS * slower) / 1000;
  const gigabytes = memoryMegabytes / 1024;
  return {
    sqs: 0,
    reads: times * use.readUnits * PRICES.readUnit,
    writes: times * use.writeUnits * PRICES.writeUnit,
    invocations: times * use.turns * PRICES.invocation,
    durations: times * seconds * gigabytes * PRICES.gigabyteSecond,
    logs: times * ((use.turns * LOG_KB_PER_TURN) / 1e6) * PRICES.logGigabyte,
  };
}

/** The same of a month. */
export function fleetMonth(use: FleetUse, memoryMegabytes: number): Dollars {
  return dollarsOfFleets(use, memoryMegabytes, DAYS);
}
