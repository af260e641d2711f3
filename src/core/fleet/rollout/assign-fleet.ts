/**
 * Assigns the clusters of a fleet to its stages and the ring, at the start of a rollout and whenever a registration changed (issue 18).
 *
 * Costs the fleet, so it is seldom; the steps between cost their stage. A cluster is in one place:
 *
 *   observe, frozen, rival ─▶ untouched: in no list
 *   was given this release at a stage that is open or passed ─▶ stays there, whatever its labels say by now; but of one that passed
 *                                                               only who is known to have it
 *   offline; or never given anything, where others go back ─▶ the ring
 *   was waiting in the open stage, and still belongs there ─▶ goes on waiting there
 *   assigned to a stage that is open or passed, and was not given it ─▶ the ring: it comes late
 *   all others ─▶ their stage
 *
 * A stage of some nodes (`nodes`) is finished with the stage after it: its clusters stand at the head of that list, too.
 */
import type { ClusterId, ClusterUid } from '../../model/identifiers.ts';
import type { ClusterRegistration } from '../../model/registration.ts';
import { assignStages } from '../assign-stages.ts';
import { isOfflineAt } from '../cluster-facts.ts';
import { compileChoice, compilePlacement } from '../choose-clusters.ts';
import type { FleetDaemonSet } from '../fleet-daemon-set.ts';
import { whyUntouched } from '../plan-cluster.ts';
import type { ClusterPlace, FleetClusterRecord } from './fleet-record.ts';

/** The facts about a cluster that dealing reads. */
export interface AssignedCluster extends Pick<
  ClusterRegistration,
  'id' | 'labels' | 'mode' | 'isFrozen' | 'rival'
> {
  readonly clusterUid: ClusterUid;
  /** Absent: it was never heard. */
  readonly heardAtMs?: number;
  /** Of an earlier step. */
  readonly record?: FleetClusterRecord;
}

export interface AssignedAt {
  readonly contentHash: string;
  /** The open stage; -1: none. */
  readonly stage: number;
  /** Clusters of the open stage so far; absent: none. */
  readonly openMembers?: ReadonlySet<ClusterId>;
  /** True where clusters go back to it at once. */
  readonly isReturn?: boolean;
  readonly nowMs: number;
}

export interface Assignment {
  readonly stages: readonly {
    readonly name: string;
    readonly namesNobody: boolean;
    readonly clusters: readonly ClusterId[];
  }[];
  readonly ring: readonly ClusterId[];
  readonly untouchedClusters: number;
}

/** Deals them out; clusters where the fleet is not placed are left out. */
export function assignFleet(
  fleet: FleetDaemonSet,
  clusters: readonly AssignedCluster[],
  at: AssignedAt,
): Assignment {
  const placed = clusters.filter(compilePlacement(fleet.placement));
  const touched = placed.filter((cluster) => whyUntouched(cluster) === undefined);
  const kept = new Map<ClusterId, ClusterPlace>();
  const ring: ClusterId[] = [];
  const free: AssignedCluster[] = [];
  for (const cluster of touched) {
    const place = placeOf(cluster, at);
    if (place !== undefined) kept.set(cluster.id, place);
    else if (isOfflineAt(cluster.heardAtMs, at.nowMs) || isNoReturn(cluster, at))
      ring.push(cluster.id);
    else free.push(cluster);
  }
  // Shares are of all that can be updated, those that already were among them.
  const dealable = touched.filter(({ id }) => kept.has(id)).concat(free);
  const stages = assignStages(fleet, dealable).map(({ stage, clusters: assigned }, index) => {
    const stay = [...kept].flatMap(([id, place]) => (place === index ? [id] : []));
    const fresh = assigned.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
    const comesLate = (id: ClusterId): boolean =>
      index < at.stage || (index === at.stage && at.openMembers?.has(id) !== true);
    ring.push(...fresh.filter(comesLate));
    return {
      name: stage.name,
      namesNobody: stage.choice !== undefined && !placed.some(compileChoice(stage.choice)),
      clusters: [...stay, ...fresh.filter((id) => !comesLate(id))],
    };
  });
  for (const [id, place] of kept) if (place === 'ring') ring.push(id);
  return {
    stages: withUnfinished(stages, fleet),
    ring,
    untouchedClusters: placed.length - touched.length,
  };
}

/** One that was given nothing before has nothing to go back from. */
function isNoReturn({ record, clusterUid }: AssignedCluster, { isReturn }: AssignedAt): boolean {
  return isReturn === true && record?.clusterUid !== clusterUid;
}

/** Where a cluster was given this release; undefined: it was not. */
function placeOf(
  { record, clusterUid }: AssignedCluster,
  { contentHash, stage }: AssignedAt,
): ClusterPlace | undefined {
  if (record === undefined || record.contentHash !== contentHash) return undefined;
  if (record.clusterUid !== clusterUid) return undefined;
  const { place, phase } = record;
  if (place === 'ring' || place === stage) return place;
  // It was frozen, or not ours to change, before it arrived: no step looks at its stage again to give it once more.
  return place < stage && phase !== 'applying' ? place : undefined;
}

/** Clusters of which a few nodes go first go on with the stage after it. */
function withUnfinished(
  stages: Assignment['stages'],
  { strategy }: FleetDaemonSet,
): Assignment['stages'] {
  const [first, second, ...others] = stages;
  if (first === undefined || second === undefined || strategy.stages[0].nodes === undefined) {
    return stages;
  }
  const finished = new Set(second.clusters);
  const begun = first.clusters.filter((id) => !finished.has(id));
  return [first, { ...second, clusters: [...begun, ...second.clusters] }, ...others];
}
