/**
 * Which clusters belong to which stage: each is in the first that takes it, the last takes the
 * rest. Pure. A share takes the first by the order and then by a hash, so a cluster that joins or
 * leaves moves at most one other for each share, and the same clusters go first with every release.
 * Only clusters that can show evidence are given here (plan-fleet.ts).
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { nameHash } from '../pod/naming.ts';
import { nodesRoundedUp } from '../policy/share.ts';
import { comparePlaces, placesBy } from '../policy/sort-by-rules.ts';
import type { OrderRule } from '../policy/rollout-policy.ts';
import { compileChoice, type ChosenBy } from './choose-clusters.ts';
import { formatFleetKey } from './fleet-daemon-set.ts';
import type { FleetDaemonSet, FleetKey, FleetStage } from './fleet-daemon-set.ts';

/** A stage and its clusters, in the order in which they go. */
export interface AssignedStage<Cluster> {
  readonly stage: FleetStage;
  readonly clusters: readonly Cluster[];
  /** How many clusters its choice names, of those that can be updated now: what percentages are of. */
  readonly baseClusters: number;
}

/** Deals the clusters out. Every one is in exactly one stage. */
export function assignStages<Cluster extends ChosenBy>(
  fleet: Pick<FleetDaemonSet, 'namespace' | 'name' | 'strategy'>,
  clusters: readonly Cluster[],
): readonly AssignedStage<Cluster>[] {
  const { stages, order } = fleet.strategy;
  const left = new Set(inOrder(clusters, fleet, order));
  return stages.map((stage, index) => {
    const isNamed = compileChoice(stage.choice);
    const isLast = index === stages.length - 1;
    const named = clusters.filter(isNamed).length;
    const wanted = [...left].filter((cluster) => isLast || isNamed(cluster));
    const taken = isLast ? wanted : wanted.slice(0, countOf(stage, named));
    for (const cluster of taken) left.delete(cluster);
    return { stage, clusters: taken, baseClusters: named };
  });
}

function countOf({ share }: FleetStage, named: number): number {
  return share === undefined ? named : nodesRoundedUp(share, named);
}

/** By the order's labels as nodes of a rollout are, then by the hash. */
function inOrder<Cluster extends ChosenBy>(
  clusters: readonly Cluster[],
  fleet: FleetKey,
  order: readonly OrderRule[],
): readonly Cluster[] {
  const placeOf = placesBy(order);
  return clusters
    .map((cluster) => ({
      cluster,
      place: placeOf(cluster.labels),
      hash: nameHash(`fleet order\n${formatFleetKey(fleet)}\n${cluster.id}`),
    }))
    .sort(
      (left, right) =>
        comparePlaces(left.place, right.place) ||
        compareText(left.hash, right.hash) ||
        compareText(left.cluster.id, right.cluster.id),
    )
    .map(({ cluster }) => cluster);
}
