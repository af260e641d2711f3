/**
 * One seeded fleet under a staged rollout, looked at by the trial of the core: who is updated when, who dies when.
 *
 * As rollouts facts 4 describes it: nodes of three zones; steps of 3, 10 %, 35 % and all of them (of percentages the whole
 * nodes), each updated evenly within 15 minutes and soaked for 30; nodes die by themselves with a constant hazard, by an outage
 * of one zone, or by the release, some time after their update; the dead stay dead. Each death is a look of its own.
 * A halt stops updates at once; harmed are the nodes updated by then that the release kills, sooner or later.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import { advanceTrial, isAgainst, startTrial } from '../../../src/core/health/trial.ts';
import type { TrialNode } from '../../../src/core/health/trial.ts';

export interface FleetScenario {
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
export interface FleetResult {
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
export function playFleet(
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
