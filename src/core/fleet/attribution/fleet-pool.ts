/**
 * One trial for clusters of fewer than ten nodes, which have nobody of their own to be compared with (issue 18; rollouts facts 4).
 *
 * Nodes of clusters that were given the release against nodes of clusters of the same stage that were not yet, within a stratum
 * (pool-facts.ts): the first node of a cluster that turns not Ready is a draw, which falls by chance on either side as their nodes are. A cluster
 * counts once, since its nodes fail together more often than not: whoever upgrades one, or has a bad link there, harms no release.
 * It counts as updated with the moment at which it is given it, all of its nodes at once: so sides are known before anything fails, and no
 * look at pods is needed. Who takes part is fixed when a stage opens, or is dealt anew: every k-th of its clusters, so that both sides
 * have some until the end, and a look costs no more in a stage of thousands. What was bad by then, and nodes that came later, are outside.
 *
 * Failures of one look are drawn one after the other, in an order that knows no side. Ratios go on from stage to stage: one e-value for
 * the release, valid however often one looks. Pure; the same pool again if there was nothing new.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { NO_EVIDENCE, meanRatio, withDraw } from '../../evidence/e-value.ts';
import type { LogRatios } from '../../evidence/e-value.ts';
import { CLOCKS_DIFFER_MS } from '../../model/evidence/clocks.ts';
import { nodeName } from '../../model/identifiers.ts';
import type { ClusterId, NodeName } from '../../model/identifiers.ts';

/** Clusters of so many nodes, or more, have peers of their own. */
export const POOLED_NODES_BELOW = 10;
/** Clusters of a stage that take part. */
export const POOL_CLUSTERS_MAX = 100;
/** Nodes outside that it keeps in mind. */
export const POOL_NODES_MAX = 300;
/** Clusters that are named. */
const NAMED_MAX = 16;
/** Clusters that it remembers to have counted: those of two populations. */
export const POOL_COUNTED_MAX = 2 * POOL_CLUSTERS_MAX;
const KEY_RADIX = 36;

/** Nodes that take part, and those of them that went bad and still are. */
export interface PoolCounts {
  readonly givenNodes: number;
  readonly givenBad: number;
  readonly otherNodes: number;
  readonly otherBad: number;
}

/** The pool of a rollout, as its record keeps it. Nodes are named by place and hash. */
export interface FleetPool {
  /** List of members that it was chosen from; another list begins another population. */
  readonly listId: string;
  /** Where in that list those stand that take part. Empty: there are no two small clusters. */
  readonly places: readonly number[];
  readonly startedAtMs: number;
  readonly outside: readonly NodeName[];
  readonly logRatios: LogRatios;
  /** Clusters of which a node failed since the release came: they count no more. */
  readonly counted: readonly ClusterId[];
  /** It was more than it can remember: it stands still. */
  readonly isVoid: boolean;
  readonly counts: PoolCounts;
  /** Those of them that had been given it: the newest 16. */
  readonly failed: readonly ClusterId[];
}

/** A node of a cluster that takes part. */
export interface PooledNode {
  readonly name: NodeName;
  readonly stratum: string;
  readonly isBad: boolean;
  readonly createdAtMs?: number;
}

/** A cluster that takes part, as seen at this look. */
export interface PooledCluster {
  readonly cluster: ClusterId;
  /** In the list of members. */
  readonly place: number;
  /** True once it was given the release. */
  readonly isGiven: boolean;
  /** Absent: it cannot be seen at this moment, and is on neither side. */
  readonly nodes?: readonly PooledNode[];
}

/** Where those stand that are asked whether they take part: evenly over a list, so that they go early and late alike. */
export function poolPlaces(count: number): readonly number[] {
  const chosen = Math.min(count, POOL_CLUSTERS_MAX);
  return Array.from({ length: chosen }, (_, index) => Math.floor((index * count) / chosen));
}

/** True if a cluster of so many nodes takes part. */
export function isPoolable(nodes: readonly unknown[] | undefined): boolean {
  return nodes !== undefined && nodes.length > 0 && nodes.length < POOLED_NODES_BELOW;
}

/** True while there is somebody on both sides, so that a look can show something. */
export function isPoolOpen(clusters: readonly Pick<PooledCluster, 'isGiven'>[]): boolean {
  return clusters.some(({ isGiven }) => isGiven) && clusters.some(({ isGiven }) => !isGiven);
}

/** The e-value of all that was found. */
export function poolEValue({ logRatios }: Pick<FleetPool, 'logRatios'>): number {
  return meanRatio(logRatios);
}

/** A population begins; `former`: what was found of the release before, on other clusters or by another deal. */
export function startPool(
  listId: string,
  clusters: readonly PooledCluster[],
  { former, nowMs }: { readonly former?: FleetPool; readonly nowMs: number },
): FleetPool {
  const small = clusters.filter(({ nodes }) => isPoolable(nodes));
  const members = small.length < 2 ? [] : small;
  const nodes = members.flatMap(membersOf);
  const outside = nodes.filter(({ isBad }) => isBad).map(({ key }) => key);
  return {
    listId,
    places: members.map(({ place }) => place),
    startedAtMs: nowMs,
    outside: outside.slice(0, POOL_NODES_MAX),
    logRatios: former?.logRatios ?? NO_EVIDENCE,
    counted: former?.counted ?? [],
    isVoid: outside.length > POOL_NODES_MAX,
    counts: countNodes(nodes.filter(({ isBad }) => !isBad)),
    failed: former?.failed ?? [],
  };
}

/** The pool after another look at those that take part. */
export function advancePool(pool: FleetPool, clusters: readonly PooledCluster[]): FleetPool {
  if (pool.isVoid) return pool;
  const outside = new Set(pool.outside);
  const nodes = clusters.flatMap(membersOf).filter(({ key, createdAtMs = 0 }) => {
    return !outside.has(key) && createdAtMs <= pool.startedAtMs - CLOCKS_DIFFER_MS;
  });
  const counts = countNodes(nodes);
  const { logRatios, counted, failed } = drawFailures(pool, nodes);
  const isSame =
    logRatios === pool.logRatios &&
    counted.length === pool.counted.length &&
    isSameCounts(counts, pool.counts);
  return isSame ? pool : { ...pool, counts, logRatios, counted, failed };
}

/** A node by its key in the pool. */
interface Member {
  readonly key: NodeName;
  readonly cluster: ClusterId;
  readonly stratum: string;
  readonly isUpdated: boolean;
  readonly isBad: boolean;
  readonly createdAtMs?: number;
}

function membersOf({ cluster, place, isGiven, nodes = [] }: PooledCluster): readonly Member[] {
  return nodes.map(({ name, ...node }) => ({
    ...node,
    key: nodeName(`${String(place)}.${hash48(name).toString(KEY_RADIX)}`),
    cluster,
    isUpdated: isGiven,
  }));
}

/** The draws of this look, each among those that are left by then. */
function drawFailures(
  pool: FleetPool,
  nodes: readonly Member[],
): Pick<FleetPool, 'logRatios' | 'counted' | 'failed'> {
  const counted = new Set(pool.counted);
  const failed = new Set(pool.failed);
  const atRisk = nodes.filter(({ cluster }) => !counted.has(cluster));
  const left = countStrata(atRisk);
  let { logRatios } = pool;
  for (const { cluster, stratum, isUpdated } of inBlindOrder(atRisk, pool)) {
    if (counted.has(cluster)) continue;
    const { updated = 0, others = 0 } = left.get(stratum) ?? {};
    logRatios = withDraw(logRatios, { isUpdated, updatedAtRisk: updated, othersAtRisk: others });
    counted.add(cluster);
    if (isUpdated) failed.add(cluster);
    for (const gone of atRisk) if (gone.cluster === cluster) takeOut(left, gone);
  }
  return {
    logRatios,
    counted: [...counted].slice(-POOL_COUNTED_MAX),
    failed: [...failed].slice(-NAMED_MAX),
  };
}

function takeOut(strata: ReadonlyMap<string, Sides>, { stratum, isUpdated }: Member): void {
  const sides = strata.get(stratum);
  if (sides !== undefined) sides[isUpdated ? 'updated' : 'others'] -= 1;
}

/** Those that went bad, by a hash that knows no side. */
function inBlindOrder(nodes: readonly Member[], { startedAtMs }: FleetPool): readonly Member[] {
  return nodes
    .filter(({ isBad }) => isBad)
    .map((node) => ({ node, rank: hash48(`pool/${String(startedAtMs)}/${node.key}`) }))
    .sort((left, right) => left.rank - right.rank || compareText(left.node.key, right.node.key))
    .map(({ node }) => node);
}

interface Sides {
  updated: number;
  others: number;
}

function countStrata(nodes: readonly Member[]): ReadonlyMap<string, Sides> {
  const strata = new Map<string, Sides>();
  for (const { stratum, isUpdated } of nodes) {
    const sides = strata.get(stratum) ?? { updated: 0, others: 0 };
    strata.set(stratum, sides);
    sides[isUpdated ? 'updated' : 'others'] += 1;
  }
  return strata;
}

function countNodes(nodes: readonly Pick<Member, 'isUpdated' | 'isBad'>[]): PoolCounts {
  const given = nodes.filter(({ isUpdated }) => isUpdated);
  const others = nodes.filter(({ isUpdated }) => !isUpdated);
  const badOf = (side: readonly Pick<Member, 'isBad'>[]): number =>
    side.filter(({ isBad }) => isBad).length;
  return {
    givenNodes: given.length,
    givenBad: badOf(given),
    otherNodes: others.length,
    otherBad: badOf(others),
  };
}

function isSameCounts(left: PoolCounts, right: PoolCounts): boolean {
  return (
    left.givenNodes === right.givenNodes &&
    left.givenBad === right.givenBad &&
    left.otherNodes === right.otherNodes &&
    left.otherBad === right.otherBad
  );
}
