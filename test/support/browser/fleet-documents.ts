/**
 * Documents of a large fleet, as the page is sent them: the map of nodes, and the health that is judged of the same clusters by
 * the code that judges it. One cluster in ten has nodes that lack a pod, and a rollout is under way everywhere.
 */
import { judgeFleetHealth } from '../../../src/core/status/health/fleet-health.ts';
import type { ClusterFacts, FleetHealth } from '../../../src/core/status/health/health-facts.ts';
import type { Outage } from '../../../src/core/status/outages.ts';

/** How large it is. */
export interface FleetSize {
  readonly clusters: number;
  readonly nodes: number;
}

/** What is not as it should be. */
export interface FleetTrouble {
  /** Of the whole stack. */
  readonly outages?: readonly Outage[];
  /** Clusters of which nothing is heard, by id. */
  readonly silent?: readonly string[];
}

/** The document `NodeMap`. */
export interface MapDocument {
  readonly atMs: number;
  readonly reasons: readonly string[];
  readonly releases: readonly string[];
  readonly daemonSets: readonly string[];
  readonly clusters: readonly MapColumns[];
}

/** The columns of one cluster. */
interface MapColumns {
  readonly id: string;
  readonly state: string;
  readonly isKnown: boolean;
  readonly unknown?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly names: readonly string[];
  readonly reason: readonly number[];
  readonly release: readonly number[];
  readonly daemonSet: readonly number[];
}

const REASONS = ['Running', 'ImagePullBackOff', 'Updating', 'WaitingForRollout'] as const;
const RELEASES = ['v1.4.2', 'v1.5.0'] as const;
const AGENT = { namespace: 'node-agents', name: 'log-collector' };
const LACKING_EVERY = 10;
const LACKED = 3;
const CONTINENTS = ['eu', 'us', 'ap'];

/** A cluster of the fleet by its place. */
export function clusterId(place: number): string {
  const continent = CONTINENTS[place % CONTINENTS.length] ?? '';
  return `prod-${continent}-${String(place).padStart(3, '0')}`;
}

function isLacking(place: number): boolean {
  return place % LACKING_EVERY === 0;
}

/** The map. */
export function nodeMapOf(
  size: FleetSize,
  { silent = [] }: FleetTrouble = {},
): MapDocument & object {
  const clusters = Array.from({ length: size.clusters }, (_, place): MapColumns => {
    const id = clusterId(place);
    const isKnown = !silent.includes(id);
    return {
      id,
      state: isKnown ? (isLacking(place) ? 'Lacking' : 'Well') : 'Silent',
      isKnown,
      ...(isKnown ? {} : { unknown: silenceOf(id).message }),
      labels: { env: 'prod', region: `${CONTINENTS[place % CONTINENTS.length] ?? ''}-1` },
      names: Array.from({ length: size.nodes }, (__, node) => nodeName(place, node)).toSorted(),
      reason: columnOf(size, (node) => (isLacking(place) && node < LACKED ? 1 : 0)),
      release: columnOf(size, (node) => (node < size.nodes / 2 ? 1 : 0)),
      daemonSet: columnOf(size, () => 0),
    };
  });
  return {
    ...{ apiVersion: 'rollcall.dev/v1alpha1', kind: 'NodeMap' },
    atMs: Date.now(),
    reasons: REASONS,
    releases: RELEASES,
    daemonSets: [`${AGENT.namespace}/${AGENT.name}`],
    clusters,
  };
}

function columnOf({ nodes }: FleetSize, value: (node: number) => number): readonly number[] {
  return Array.from({ length: nodes }, (_, node) => value(node));
}

function nodeName(cluster: number, node: number): string {
  return `ip-10-${String(cluster)}-0-${String(node)}.internal`;
}

/** The health of the same fleet: the document `FleetHealth`. */
export function healthOf(size: FleetSize, trouble: FleetTrouble = {}): FleetHealth & object {
  const { outages = [], silent = [] } = trouble;
  const clusters = Array.from({ length: size.clusters }, (_, place): ClusterFacts => {
    const id = clusterId(place);
    return {
      id,
      mode: 'takeover',
      outages: silent.includes(id) ? [silenceOf(id)] : [],
      heardAtMs: Date.now(),
      isViewComplete: true,
      daemonSets: [
        {
          ...AGENT,
          counts: countsOf(size.nodes, isLacking(place) ? LACKED : 0),
          ...(isLacking(place) ? { reasons: REASONS_OF_LACK } : {}),
        },
      ],
    };
  });
  const facts = { outages, frozen: {}, clusters, unreadable: [], fleets: [] };
  return {
    ...{ apiVersion: 'rollcall.dev/v1alpha1', kind: 'FleetHealth' },
    ...judgeFleetHealth(facts),
  };
}

const REASONS_OF_LACK = [
  {
    code: 'ImagePullBackOff',
    title: 'its image cannot be pulled',
    kind: 'failing',
    nodes: LACKED,
  },
] as const;

function countsOf(
  nodes: number,
  lacked: number,
): NonNullable<ClusterFacts['daemonSets'][number]['counts']> {
  const generations = { generation: 2, observedGeneration: 2 };
  return { ...generations, desired: nodes, updated: nodes, available: nodes - lacked };
}

/** What is said of a cluster of which nothing is heard. */
function silenceOf(id: string): Outage {
  return {
    code: 'watcher-silent',
    message: `nothing was heard of the watcher of ${id} since 2026-11-28 08:00 UTC: what is told is as of then`,
    remedy: `look: rollcall cluster doctor ${id}`,
  };
}

/** What is said of a stack that was stopped. */
export const STOPPED: Outage = {
  code: 'stopped',
  message:
    'stopped since 2026-11-28 08:00 UTC by ann (maintenance): no function is called, and nothing is heard of any cluster',
  remedy: 'go on: rollcall stack resume',
};
