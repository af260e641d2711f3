/**
 * One trial for clusters of fewer than ten nodes, which have too few peers of their own.
 * Given clusters are compared with waiting ones of the same stage and stratum: the first node of a
 * cluster that turns not Ready is a draw, and the cluster counts no more. All of its nodes count as
 * updated when it is given the release. Ratios go on from stage to stage: one e-value. Pure.
 */
import { hash48 } from '@rollcall/base/hash48.ts';
import {
  HALT_AT,
  NO_EVIDENCE,
  atRiskIn,
  describeE,
  drawFailures,
  meanRatio,
} from '../../health/trial.ts';
import type { LogRatios, TrialNode } from '../../health/trial.ts';
import { nodeName, type ClusterId, type NodeName } from '../../model/identifiers.ts';
import type { NodeProjection } from '../../model/projections.ts';
import type { ClusterRegistration } from '../../model/registration.ts';

/** Clusters of so many nodes, or more, have peers of their own. */
const POOLED_NODES_BELOW = 10;
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
interface PoolCounts {
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

/** True while both sides have clusters, so that a look can show something. */
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
  const outside = nodes.filter(({ isBad }) => isBad).map(({ name }) => name);
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
  const nodes = clusters.flatMap(membersOf).filter(atRiskIn(pool, pool.outside));
  const counts = countNodes(nodes);
  const known = new Set(pool.counted);
  const { ratios, failures } = drawFailures(
    pool.logRatios,
    nodes.filter(({ cluster }) => !known.has(cluster)),
    { startedAtMs: pool.startedAtMs, unitOf: ({ cluster }) => cluster },
  );
  if (failures.length === 0 && isSameCounts(counts, pool.counts)) return pool;
  const counted = failures.map(({ member }) => member.cluster);
  const failed = failures.flatMap(({ member }) => (member.isUpdated ? [member.cluster] : []));
  return {
    ...pool,
    counts,
    logRatios: ratios,
    counted: [...pool.counted, ...counted].slice(-POOL_COUNTED_MAX),
    failed: [...new Set([...pool.failed, ...failed])].slice(-NAMED_MAX),
  };
}

interface Member extends TrialNode {
  readonly cluster: ClusterId;
}

function membersOf({ cluster, place, isGiven, nodes = [] }: PooledCluster): readonly Member[] {
  return nodes.map(({ name, ...node }) => ({
    ...node,
    name: nodeName(`${String(place)}.${hash48(name).toString(KEY_RADIX)}`),
    cluster,
    isUpdated: isGiven,
  }));
}

function countNodes(nodes: readonly Member[]): PoolCounts {
  const countOf = (isUpdated: boolean, of = nodes): number =>
    of.filter((node) => node.isUpdated === isUpdated).length;
  const bad = nodes.filter(({ isBad }) => isBad);
  return {
    givenNodes: countOf(true),
    givenBad: countOf(true, bad),
    otherNodes: countOf(false),
    otherBad: countOf(false, bad),
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

/** `3 of 12 nodes of clusters that were given it are bad, 1 of 60 of others (40 clusters of fewer than ten nodes, …): E = 41.2`. */
export function describePool(pool: FleetPool): string {
  const { places, counts, isVoid } = pool;
  const { givenNodes, givenBad, otherNodes, otherBad } = counts;
  const given = `${String(givenBad)} of ${String(givenNodes)} nodes of clusters that were given it are bad`;
  const others = `${String(otherBad)} of ${String(otherNodes)} of others`;
  const who = `${String(places.length)} clusters of fewer than ${String(POOLED_NODES_BELOW)} nodes, by version, system and provider`;
  const end = isVoid ? ', and more than can be compared' : '';
  return `${given}, ${others} (${who}): E = ${describeE(poolEValue(pool))}, ${String(HALT_AT)} halts${end}`;
}

export interface ProvidedCluster {
  readonly labels: ClusterRegistration['labels'];
  readonly authentication: Pick<ClusterRegistration['authentication'], 'kind'>;
}

const WORD_CHARACTERS_MAX = 40;
const PROVIDER_LABEL = 'provider';

/** Prefixes of labels that a cloud puts on each of its nodes. */
const PROVIDERS = [
  ['eks.amazonaws.com/', 'eks'],
  ['cloud.google.com/', 'gke'],
  ['kubernetes.azure.com/', 'aks'],
] as const;

/**
 * Nodes of one Kubernetes version, operating system and provider are compared with each other. Versions as far as a release of either changes
 * much: `v1.33`, `Ubuntu 22`. The provider is told by the labels that clouds put on their nodes, else by how the cluster is registered. What a
 * node does not tell is a value of its own. Words of clusters: bounded, and never parsed further.
 */
export function poolStratumOf(
  { system, labels }: Pick<NodeProjection, 'system' | 'labels'>,
  cluster: ProvidedCluster,
): string {
  const kubernetes = /^v\d+\.\d+/.exec(system?.kubeletVersion ?? '')?.[0];
  const os = /^\D*\d*/.exec(system?.osImage ?? '')?.[0];
  return [kubernetes, os, providerOf(labels, cluster)]
    .map((word = '') => word.trim().slice(0, WORD_CHARACTERS_MAX))
    .join('/');
}

function providerOf(
  labels: NodeProjection['labels'],
  { labels: given, authentication }: ProvidedCluster,
): string | undefined {
  const keys = Object.keys(labels);
  const known = PROVIDERS.find(([prefix]) => keys.some((key) => key.startsWith(prefix)));
  if (known !== undefined) return known[1];
  if (Object.hasOwn(given, PROVIDER_LABEL)) return given[PROVIDER_LABEL];
  return authentication.kind === 'eks' ? 'eks' : undefined;
}
