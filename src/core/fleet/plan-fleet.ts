/**
 * Plans what applying a FleetDaemonSet would do, cluster by cluster and stage by stage. Pure, without
 * memory. A cluster is refused (nothing may be applied anywhere), untouched (observe, frozen,
 * rival), offline (follows in the ring), or in a stage; percentages are of those in stages.
 */
import { nodesRoundedDown, nodesRoundedUp } from '../policy/share.ts';
import { assignStages, type AssignedStage } from './assign-stages.ts';
import { compilePlacement } from './choose-clusters.ts';
import { OFFLINE_AFTER_MS, type ClusterFacts } from './cluster-facts.ts';
import type {
  ClusterChoice,
  FleetDaemonSet,
  FleetProblem,
  FleetStage,
} from './fleet-daemon-set.ts';
import { planCluster, whyUntouched, type PlannedCluster, type Untouched } from './plan-cluster.ts';
import { fleetRenderer, renderForMode } from './render-fleet.ts';

/** A stage of a plan. */
export interface PlannedStage extends Pick<
  FleetStage,
  'name' | 'soakMs' | 'approval' | 'windows' | 'nodes' | 'share'
> {
  /** Clusters that its choice names, of those that can be updated now: what a percentage of clusters is of. */
  readonly baseClusters: number;
  /** Clusters that roll at the same time. */
  readonly concurrentClusters: number;
  /** Clusters that may fail before the fleet halts. */
  readonly failedClustersMax: number;
  /** In the order in which they go. */
  readonly clusters: readonly PlannedCluster[];
  /** Nodes whose pod this stage changes or makes, of the clusters that tell; with those that a first stage of some nodes leaves to it. */
  readonly changedNodes: number;
}

/** A cluster that is offline. */
export interface OfflineCluster extends PlannedCluster {
  /** Absent: it was never heard. */
  readonly silentForMs?: number;
}

/** A plan. */
export interface FleetPlan {
  readonly stages: readonly PlannedStage[];
  readonly untouched: readonly (PlannedCluster & { readonly why: Untouched })[];
  readonly offline: readonly OfflineCluster[];
  readonly refused: readonly {
    readonly id: string;
    readonly problems: readonly FleetProblem[];
  }[];
  /** Names in the fleet that no registration has. */
  readonly unknownNames: readonly string[];
}

/** Plans a fleet for these registrations; those where it is not placed are left out. */
export function planFleet(
  fleet: FleetDaemonSet,
  clusters: readonly ClusterFacts[],
  nowMs: number,
): FleetPlan {
  const isPlaced = compilePlacement(fleet.placement);
  const renderFor = fleetRenderer(fleet);
  const ready: ClusterFacts[] = [];
  const planned = new Map<string, PlannedCluster>();
  const untouched: (PlannedCluster & { readonly why: Untouched })[] = [];
  const offline: OfflineCluster[] = [];
  const refused: FleetPlan['refused'][number][] = [];
  for (const facts of clusters.filter(isPlaced)) {
    const rendering = renderForMode(renderFor(facts), facts.mode);
    if (rendering.kind === 'refused') {
      refused.push({ id: facts.id, problems: rendering.problems });
      continue;
    }
    const plan = planCluster(facts, rendering);
    const why = whyUntouched(facts);
    const silentForMs = facts.seen && Math.max(0, nowMs - facts.seen.heardAtMs);
    if (why !== undefined) untouched.push({ ...plan, why });
    else if (silentForMs === undefined) offline.push(plan);
    else if (silentForMs > OFFLINE_AFTER_MS) offline.push({ ...plan, silentForMs });
    else {
      ready.push(facts);
      planned.set(facts.id, plan);
    }
  }
  const stages = assignStages(fleet, ready).map((stage) => planStage(stage, planned));
  return {
    stages: withUnfinished(stages),
    untouched,
    offline,
    refused,
    unknownNames: unknownNames(fleet, clusters),
  };
}

/** A first stage of some nodes leaves the others of its clusters to the stage after it (core/fleet/rollout/assign-fleet.ts). */
function withUnfinished(stages: readonly PlannedStage[]): readonly PlannedStage[] {
  const [first, second, ...others] = stages;
  if (first?.nodes === undefined || second === undefined) return stages;
  const all = first.clusters.reduce((sum, { changedNodes }) => sum + changedNodes, 0);
  const left = all - first.changedNodes;
  return [first, { ...second, changedNodes: second.changedNodes + left }, ...others];
}

function planStage(
  { stage, clusters: assigned, baseClusters }: AssignedStage<ClusterFacts>,
  planned: ReadonlyMap<string, PlannedCluster>,
): PlannedStage {
  const { name, soakMs, approval, windows, nodes, share, maxConcurrency, maxFailures } = stage;
  const clusters = assigned.flatMap(({ id }) => planned.get(id) ?? []);
  return {
    name,
    soakMs,
    approval,
    windows,
    ...(nodes === undefined ? {} : { nodes }),
    ...(share === undefined ? {} : { share }),
    baseClusters,
    concurrentClusters: Math.min(clusters.length, nodesRoundedUp(maxConcurrency, clusters.length)),
    failedClustersMax: Math.min(clusters.length, nodesRoundedDown(maxFailures, clusters.length)),
    clusters,
    changedNodes: clusters.reduce((sum, cluster) => sum + nodesOfStage(cluster, nodes), 0),
  };
}

/** Nodes of a cluster that its stage changes, of which it may take the first ones only; what is new starts everywhere. */
function nodesOfStage(
  { change, nodes = 0, changedNodes }: PlannedCluster,
  share: FleetStage['nodes'],
): number {
  if (share === undefined || change === 'create') return changedNodes;
  const done = nodes - changedNodes;
  return Math.min(changedNodes, Math.max(0, nodesRoundedUp(share, nodes) - done));
}

function unknownNames(
  { placement, overrides, strategy }: FleetDaemonSet,
  clusters: readonly Pick<ClusterFacts, 'id'>[],
): readonly string[] {
  const known = new Set<string>(clusters.map(({ id }) => id));
  const choices: readonly (ClusterChoice | undefined)[] = [
    placement.choice,
    placement.exclude,
    ...overrides.map(({ choice }) => choice),
    ...strategy.stages.map(({ choice }) => choice),
  ];
  const names = choices.flatMap((choice) => choice?.names ?? []);
  return [...new Set(names)].filter((name) => !known.has(name)).sort();
}
