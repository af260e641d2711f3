/**
 * The columns of the table of rollouts facts 4: what befalls a fleet, and what the facts found for it.
 *
 * The facts come from a simulation of their own, of which the model is told and not the program; two tables of 10,000
 * fleets each differ by chance alone by half a percent where half of the fleets halt.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import { advanceTrial, isAgainst, startTrial } from '../../../src/core/health/trial.ts';
import type { TrialNode } from '../../../src/core/health/trial.ts';

interface FleetScenario {
  readonly nodes: number;
  /** In which order nodes are updated. */
  readonly order: 'spread' | 'zones';
  /** Deaths per node-hour that have nothing to do with the release. */
  readonly hazard: number;
  /** Share of nodes that the release kills, and after how many minutes on average. */
  readonly killed: number;
  readonly killMinutes: number;
  /** Share of one zone's nodes that die within two minutes, at some time of the rollout. */
  readonly outage: number;
}

/** Where a rollout halted at a threshold; `harmed`: nodes that the release kills, of those updated by then. */
interface FleetResult {
  readonly isHalted: boolean;
  readonly harmed: number;
}

const ZONES = 3;
const STEP_SHARES = [10, 35, 100] as const;
const CANARY = 3;
const UPDATE_MINUTES = 15;
const STEP_MINUTES = 45;
const OUTAGE_MINUTES = 2;
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 25);
/** How long after the start a fleet is looked at. */
const END_MINUTES = STEP_MINUTES * (STEP_SHARES.length + 1);

interface FleetNode {
  readonly zone: number;
  readonly updatedAt: number;
  readonly isDoomed: boolean;
  diesAt: number;
}

/** Plays one fleet; a result for each threshold, in their order, which must rise. */
function playFleet(
  scenario: FleetScenario,
  thresholds: readonly number[],
  seed: number,
): readonly FleetResult[] {
  const fleet = drawFleet(scenario, seededRandom(seed));
  const deaths = fleet
    .map((node, index) => ({ index, at: node.diesAt }))
    .filter(({ at }) => at < END_MINUTES)
    .sort((left, right) => left.at - right.at || left.index - right.index);
  const results: FleetResult[] = [];
  let trial = startTrial(nodesAt(fleet, 0), START_MS);
  for (const { at } of deaths) {
    trial = advanceTrial(trial, nodesAt(fleet, at), START_MS + at * MINUTE_MS);
    while (results.length < thresholds.length && isAgainst(trial, thresholds[results.length])) {
      const harmed = fleet.filter(({ isDoomed, updatedAt }) => isDoomed && updatedAt <= at).length;
      results.push({ isHalted: true, harmed });
    }
    if (results.length === thresholds.length) return results;
  }
  const all = fleet.filter(({ isDoomed }) => isDoomed).length;
  return thresholds.map((_, at) => results[at] ?? { isHalted: false, harmed: all });
}

function drawFleet(scenario: FleetScenario, random: Random): readonly FleetNode[] {
  const { nodes, order, hazard, killed, killMinutes } = scenario;
  const times = updateTimes(nodes);
  const perZone = Math.ceil(nodes / ZONES);
  const fleet = times.map((updatedAt, turn): FleetNode => {
    // The canary is spread whatever the order is.
    const isSpread = order === 'spread' || turn < CANARY;
    const zone = isSpread ? turn % ZONES : Math.floor(turn / perZone);
    const ownDeath = hazard === 0 ? Infinity : exponential(random, 60 / hazard);
    const isDoomed = random.next() < killed && ownDeath > updatedAt;
    const killedAt = isDoomed ? updatedAt + exponential(random, killMinutes) : Infinity;
    return { zone, updatedAt, isDoomed, diesAt: Math.min(ownDeath, killedAt) };
  });
  strike(fleet, scenario, random);
  return fleet;
}

/** Minutes at which nodes are updated, one after the other. */
function updateTimes(nodes: number): readonly number[] {
  const ends = [CANARY, ...STEP_SHARES.map((share) => Math.floor((share * nodes) / 100))];
  return ends.flatMap((end, step) => {
    const count = Math.max(0, end - (ends[step - 1] ?? 0));
    return Array.from({ length: count }, (_, index) => {
      return step * STEP_MINUTES + (UPDATE_MINUTES * (index + 0.5)) / count;
    });
  });
}

function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.next());
}

function strike(fleet: readonly FleetNode[], { outage }: FleetScenario, random: Random): void {
  if (outage === 0) return;
  const zone = Math.floor(random.next() * ZONES);
  const begins = random.next() * END_MINUTES;
  for (const node of fleet) {
    if (node.zone !== zone || random.next() >= outage) continue;
    node.diesAt = Math.min(node.diesAt, begins + random.next() * OUTAGE_MINUTES);
  }
}

function nodesAt(fleet: readonly FleetNode[], minute: number): readonly TrialNode[] {
  return fleet.map(({ zone, updatedAt, diesAt }, index) => ({
    name: nodeName(`n${String(index)}`),
    stratum: `${String(zone)}/`,
    isUpdated: updatedAt <= minute,
    isBad: diesAt <= minute,
  }));
}

/** E at which a rollout halts, and a stricter one beside it. */
export const THRESHOLDS = [25, 100] as const;

/** What the facts have for one threshold. */
export interface FactsFigure {
  readonly haltPercent: number;
  /** Nodes harmed, median and 95th percentile, of fleets that halted. */
  readonly harmed?: readonly [number, number];
}

/** One column. */
export interface Column {
  readonly name: string;
  readonly scenario: FleetScenario;
  /** For each of THRESHOLDS; absent: the facts do not tell. */
  readonly facts: readonly (FactsFigure | undefined)[];
}

const HARMLESS: FleetScenario = {
  nodes: 164,
  order: 'spread',
  hazard: 0,
  killed: 0,
  killMinutes: 6,
  outage: 0,
};

function harmless(
  name: string,
  scenario: Partial<FleetScenario>,
  percents: readonly number[],
): Column {
  const facts = percents.map((haltPercent) => ({ haltPercent }));
  return { name, scenario: { ...HARMLESS, ...scenario }, facts };
}

function harmful(
  name: string,
  scenario: Partial<FleetScenario>,
  figures: readonly (readonly [haltPercent: number, median: number, p95: number])[],
): Column {
  const facts = figures.map(([haltPercent, median, p95]): FactsFigure => ({
    haltPercent,
    harmed: [median, p95],
  }));
  return { name, scenario: { ...HARMLESS, ...scenario }, facts };
}

/** 164 nodes. */
export const LARGE: readonly Column[] = [
  harmless('h 1e-4', { hazard: 1e-4 }, [0, 0]),
  harmless('h 1e-3', { hazard: 1e-3 }, [0.04, 0]),
  harmless('h 1e-2', { hazard: 1e-2 }, [0.7, 0.09]),
  harmless('outage, spread', { outage: 0.3 }, [0.07, 0.01]),
  harmless('outage, by zone', { outage: 0.3, order: 'zones' }, [0.01, 0]),
  harmful('q 1.0', { killed: 1 }, [
    [100, 3, 3],
    [100, 3, 3],
  ]),
  harmful('q 0.3', { killed: 0.3 }, [
    [100, 3, 5],
    [100, 3, 6],
  ]),
  harmful('q 0.1', { killed: 0.1 }, [
    [98, 3, 7],
    [92, 4, 12],
  ]),
  harmful('q 0.03', { killed: 0.03 }, [
    [40, 3, 7],
    [19, 4, 8],
  ]),
  harmful('q 0.1, h 1e-2', { killed: 0.1, hazard: 1e-2 }, [
    [88, 3, 14],
    [76, 6, 17],
  ]),
  harmful('slow q 0.3', { killed: 0.3, killMinutes: 120 }, [
    [95, 9, 36],
    [87, 16, 49],
  ]),
];

function small(name: string, scenario: Partial<FleetScenario>, haltPercent?: number): Column {
  const facts = [haltPercent === undefined ? undefined : { haltPercent }, undefined];
  return { name, scenario: { ...HARMLESS, nodes: 50, ...scenario }, facts };
}

/** 50 nodes: of false alarms the facts tell only the bound. */
export const SMALL: readonly Column[] = [
  small('h 1e-3', { hazard: 1e-3 }, 0.2),
  small('h 1e-2', { hazard: 1e-2 }, 0.2),
  small('outage, spread', { outage: 0.3 }, 0.2),
  small('q 0.3', { killed: 0.3 }, 98),
  small('q 0.1', { killed: 0.1 }, 41),
  small('q 0.03', { killed: 0.03 }, 5),
];

/** What a number of fleets came to, at one threshold. */
export interface Measured {
  readonly fleets: number;
  readonly halted: number;
  /** Of each fleet that halted. */
  readonly harmed: readonly number[];
}

/** Plays so many fleets of a column, seeds counting from `firstSeed`; one result for each of THRESHOLDS. */
export function measureColumn(
  { scenario }: Column,
  fleets: number,
  firstSeed: number,
): readonly Measured[] {
  const results: (readonly FleetResult[])[] = [];
  for (let seed = firstSeed; seed < firstSeed + fleets; seed += 1) {
    results.push(playFleet(scenario, THRESHOLDS, seed));
  }
  return THRESHOLDS.map((_, at) => {
    const halted = results.flatMap((result) => {
      const one = result[at];
      return one?.isHalted === true ? [one.harmed] : [];
    });
    return { fleets, halted: halted.length, harmed: halted };
  });
}

/** Whether the release of a column does harm. */
export function isHarmful({ scenario }: Column): boolean {
  return scenario.killed > 0;
}

/** So far from the expected number does chance lead once in two thousand times. */
const DEVIATIONS = 3.3;

/** The most of `fleets` that chance lets halt where `percent` do; at least one more than the rounded expectation. */
export function haltsMax(fleets: number, percent: number): number {
  return Math.max(
    1,
    Math.floor(expected(fleets, percent) + DEVIATIONS * deviation(fleets, percent)),
  );
}

/** The least of `fleets` that chance lets halt where `percent` do. */
export function haltsMin(fleets: number, percent: number): number {
  return Math.max(
    0,
    Math.ceil(expected(fleets, percent) - DEVIATIONS * deviation(fleets, percent)),
  );
}

function expected(fleets: number, percent: number): number {
  return (fleets * percent) / 100;
}

/** Of a percentage told in whole numbers: half a point of it is rounding. */
function deviation(fleets: number, percent: number): number {
  const share = Math.min(0.995, Math.max(percent, 0.01) / 100);
  return Math.sqrt(fleets * share * (1 - share));
}
