/**
 * Looks at the small clusters of the open stage that are compared with each other (fleet-pool.ts):
 * at most a hundred, given the release or waiting for it. A cluster that cannot be read, is silent
 * or is not to be touched is not seen at this look. Asks no cluster.
 */
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import {
  advancePool,
  isPoolOpen,
  poolPlaces,
  poolStratumOf,
  startPool,
  type FleetPool,
  type PooledCluster,
  type PooledNode,
} from '../../../core/fleet/attribution/fleet-pool.ts';
import { isOfflineAt } from '../../../core/fleet/cluster-facts.ts';
import { whyUntouched } from '../../../core/fleet/plan-cluster.ts';
import type { FleetRecord, MemberList } from '../../../core/fleet/rollout/fleet-record.ts';
import type { ObservedPool } from '../../../core/fleet/rollout/tally-stage.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { NodeProjection } from '../../../core/model/projections.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { placesBy } from '../../../core/policy/sort-by-rules.ts';
import type { OrderRule } from '../../../core/policy/rollout-policy.ts';
import { READ_AT_ONCE, type StepFleetsDependencies } from './dependencies.ts';
import { readFewNodes } from './read-evidence.ts';
import type { ObservedClusters } from './observe-clusters.ts';

type PoolSources = Pick<StepFleetsDependencies, 'registry' | 'view' | 'clock' | 'log'>;

interface PoolOf {
  readonly record: FleetRecord;
  /** In which clusters go: those that one of its labels sends first are not compared with those that it sends later. */
  readonly order: readonly OrderRule[];
  /** Members of the open stage. */
  readonly list: MemberList;
  readonly open: ObservedClusters;
}

/** The pool after this look, and who takes part; undefined: there is none. Never rejects. */
export async function observePool(
  { record, order, list, open }: PoolOf,
  sources: PoolSources,
): Promise<ObservedPool | undefined> {
  if (list.count < 2) return undefined;
  const nowMs = sources.clock.nowMs();
  const known = standingPool(record, list);
  const places = known?.places ?? poolPlaces(list.count);
  const chosen = places.flatMap((place) => {
    const cluster = open.listed[place];
    return cluster === undefined
      ? []
      : [{ cluster, place, isGiven: isGiven(cluster, record, open) }];
  });
  if (known !== undefined && !isPoolOpen(chosen)) return seenOf(known, chosen);
  const placeOf = placesBy(order);
  const clusters = await sideBySide(chosen, READ_AT_ONCE, async (one): Promise<PooledCluster> => {
    const found = await readNodes(one.cluster, sources);
    if (found === undefined) return one;
    // One that was rebuilt since has nothing of it.
    const { clusterUid } = found.registration;
    const isStillGiven = one.isGiven && open.records.get(one.cluster)?.clusterUid === clusterUid;
    const turn = placeOf(found.registration.labels).map(({ word }) => word);
    return {
      ...one,
      isGiven: isStillGiven,
      nodes: found.nodes.map((node) =>
        pooledNode(node, [poolStratumOf(node, found.registration), ...turn].join('/')),
      ),
    };
  });
  const former = isOverruled(record) ? undefined : record.pool;
  const pool =
    known === undefined
      ? startPool(list.id, clusters, { nowMs, ...defined({ former }) })
      : advancePool(known, clusters);
  return seenOf(pool, clusters);
}

/** The pool that goes on; undefined: one begins. */
function standingPool(record: FleetRecord, { id }: MemberList): FleetPool | undefined {
  const { pool } = record;
  return pool?.listId === id && !isOverruled(record) ? pool : undefined;
}

/** An operator resumed after a breach since the pool began: only later evidence counts. */
function isOverruled({ pool, orders: { resumed } }: FleetRecord): boolean {
  return pool !== undefined && resumed !== undefined && resumed.atMs >= pool.startedAtMs;
}

function isGiven(
  cluster: ClusterId,
  { release }: FleetRecord,
  { records }: ObservedClusters,
): boolean {
  return records.get(cluster)?.contentHash === release.contentHash;
}

function seenOf(pool: FleetPool, clusters: readonly PooledCluster[]): ObservedPool {
  const places = new Set(pool.places);
  const members = clusters.filter(({ place }) => places.has(place)).map(({ cluster }) => cluster);
  return { pool, members: new Set(members) };
}

function pooledNode(node: NodeProjection, stratum: string): PooledNode {
  const { name, isReady, createdAtMs } = node;
  return { name, stratum, isBad: !isReady, ...defined({ createdAtMs }) };
}

interface FoundNodes {
  readonly registration: ClusterRegistration;
  readonly nodes: readonly NodeProjection[];
}

async function readNodes(
  cluster: ClusterId,
  { registry, view, clock, log }: PoolSources,
): Promise<FoundNodes | undefined> {
  try {
    const registration = await registry.readCluster(cluster);
    if (registration === undefined || whyUntouched(registration) !== undefined) return undefined;
    const few = await readFewNodes(registration.clusterUid, view);
    if (few === undefined || isOfflineAt(few.heardAtMs, clock.nowMs())) return undefined;
    return { registration, nodes: few.nodes };
  } catch (error) {
    log.error('nodes of a cluster of a fleet could not be read', { cluster }, error);
    return undefined;
  }
}
