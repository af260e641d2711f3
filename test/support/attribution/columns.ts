/**
 * The columns of the table of rollouts facts 4: what befalls a fleet, and what the facts found for it.
 *
 * The facts come from a simulation of their own, of which the model is told and not the program; two tables of 10,000
 * fleets each differ by chance alone by half a percent where half of the fleets halt.
 */
import { playFleet, type FleetResult, type FleetScenario } from './fleet.ts';

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
