/**
 * Seeded fleets of clusters of one to nine nodes under a staged release, looked at by the pool of the core every minute.
 *
 * Clusters are given the release some at a time, in an order of their own. Nodes fail by themselves with a constant hazard and come back,
 * or by the release some minutes after their cluster was given it. Clusters fall out of sight, nodes are replaced, lists are dealt anew, and
 * strata differ in how often their nodes fail, and one cluster in fifteen is sick: its nodes fail over and over. Whoever halts stops giving.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { HALT_AT } from '../../../src/core/health/trial.ts';
import {
  advancePool,
  isPoolOpen,
  poolEValue,
  poolPlaces,
  startPool,
} from '../../../src/core/fleet/attribution/fleet-pool.ts';
import type { FleetPool, PooledCluster } from '../../../src/core/fleet/attribution/fleet-pool.ts';
import { clusterId, nodeName } from '../../../src/core/model/identifiers.ts';

/** What happens to a fleet. */
export interface SmallFleet {
  readonly clusters: number;
  /** Failures per node-hour that have nothing to do with the release; every third stratum has five times as many. */
  readonly hazard: number;
  /** Share of nodes that the release fells, some eight minutes after it came. */
  readonly killed: number;
  /** Clusters that are given it every ten minutes. */
  readonly givenAtOnce: number;
}

/** What came of it. */
export interface SmallFleetResult {
  readonly isHalted: boolean;
  /** Clusters that were given it. */
  readonly given: number;
  /** Failures that were counted. */
  readonly draws: number;
}

const START_MS = Date.UTC(2026, 10, 25);
const MINUTE_MS = 60_000;
const WAVE_MINUTES = 10;
const KILL_MINUTES = 8;
const DOWN_MINUTES = 20;
/** Failures per node-hour of a sick cluster. */
const SICK_HAZARD = 2;
const STRATA = ['v1.32/Ubuntu 22/eks', 'v1.33/Ubuntu 22/eks', 'v1.33/Talos/'] as const;

interface Node {
  readonly name: string;
  readonly createdAtMs?: number;
  isBad: boolean;
  isDoomed: boolean;
}

interface Cluster {
  readonly id: string;
  readonly stratum: string;
  readonly hazard: number;
  nodes: Node[];
  givenAt?: number;
}

/** Plays one fleet to its end, or to its halt. */
export function playSmallFleet(fleet: SmallFleet, seed: number): SmallFleetResult {
  return new Play(fleet, seededRandom(seed)).run();
}

class Play {
  readonly #fleet: SmallFleet;
  readonly #random: Random;
  readonly #clusters: readonly Cluster[];
  readonly #order: readonly Cluster[];
  #pool: FleetPool | undefined;
  #list = 0;
  #draws = 0;

  constructor(fleet: SmallFleet, random: Random) {
    this.#fleet = fleet;
    this.#random = random;
    this.#clusters = drawClusters(fleet, random);
    this.#order = shuffled(this.#clusters, random);
  }

  run(): SmallFleetResult {
    for (let minute = 0; ; minute += 1) {
      const given = this.#given;
      if (given === this.#clusters.length) return { isHalted: false, given, draws: this.#draws };
      this.#pass(minute, given);
      const before = this.#pool?.logRatios;
      const pool = this.#look(START_MS + minute * MINUTE_MS);
      if (before?.join() !== pool.logRatios.join()) this.#draws += 1;
      if (poolEValue(pool) >= HALT_AT) return { isHalted: true, given, draws: this.#draws };
    }
  }

  get #given(): number {
    return this.#clusters.filter(({ givenAt }) => givenAt !== undefined).length;
  }

  /** One minute passes. */
  #pass(minute: number, given: number): void {
    const { givenAtOnce } = this.#fleet;
    const isWave = minute > 0 && minute % WAVE_MINUTES === 0;
    const next = isWave ? this.#order.slice(given, given + givenAtOnce) : [];
    for (const cluster of next) cluster.givenAt = minute;
    const at = { minute, fleet: this.#fleet, random: this.#random };
    for (const cluster of this.#clusters) age(cluster, at);
    if (this.#random.next() < 0.005) this.#list += 1;
  }

  #look(nowMs: number): FleetPool {
    const known = this.#pool?.listId === String(this.#list) ? this.#pool : undefined;
    const places = known?.places ?? poolPlaces(this.#clusters.length);
    const seen = places.flatMap((place) => {
      const cluster = this.#clusters[place];
      return cluster === undefined ? [] : [look(cluster, place, this.#random)];
    });
    const former = this.#pool === undefined ? {} : { former: this.#pool };
    if (known === undefined) {
      this.#pool = startPool(String(this.#list), seen, { nowMs, ...former });
    } else if (isPoolOpen(seen)) this.#pool = advancePool(known, seen);
    return this.#pool ?? startPool('', [], { nowMs });
  }
}

function drawClusters({ clusters, hazard }: SmallFleet, random: Random): Cluster[] {
  return Array.from({ length: clusters }, (_, index) => {
    const kind = Math.floor(random.next() * STRATA.length);
    const size = 1 + Math.floor(random.next() * 9);
    const nodes = Array.from({ length: size }, (_node, at) => ({
      name: `n${String(at)}`,
      isBad: random.next() < 0.03,
      isDoomed: false,
    }));
    return {
      id: `c${String(index)}`,
      stratum: STRATA[kind] ?? '',
      hazard: random.next() < 1 / 15 ? SICK_HAZARD : kind === 2 ? hazard * 5 : hazard,
      nodes,
    };
  });
}

function shuffled(clusters: readonly Cluster[], random: Random): readonly Cluster[] {
  return clusters
    .map((cluster) => ({ cluster, rank: random.next() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ cluster }) => cluster);
}

function age(
  cluster: Cluster,
  at: { readonly minute: number; readonly fleet: SmallFleet; readonly random: Random },
): void {
  const { minute, fleet, random } = at;
  for (const node of cluster.nodes) {
    if (cluster.givenAt === minute && random.next() < fleet.killed) node.isDoomed = true;
    if (node.isDoomed && random.next() < 1 / KILL_MINUTES) node.isBad = true;
    else if (random.next() < cluster.hazard / 60) node.isBad = true;
    else if (node.isBad && !node.isDoomed && random.next() < 1 / DOWN_MINUTES) node.isBad = false;
  }
  if (random.next() > 0.0005) return;
  const [, ...kept] = cluster.nodes;
  const createdAtMs = START_MS + minute * MINUTE_MS;
  const fresh = { name: `r${String(minute)}`, createdAtMs, isBad: false, isDoomed: false };
  cluster.nodes = [...kept, fresh];
}

function look(cluster: Cluster, place: number, random: Random): PooledCluster {
  const { id, stratum, nodes, givenAt } = cluster;
  const one = { cluster: clusterId(id), place, isGiven: givenAt !== undefined };
  if (random.next() < 0.05) return one;
  return {
    ...one,
    nodes: nodes.map(({ name, isBad, createdAtMs }) => ({
      name: nodeName(name),
      stratum,
      isBad,
      ...(createdAtMs === undefined ? {} : { createdAtMs }),
    })),
  };
}
