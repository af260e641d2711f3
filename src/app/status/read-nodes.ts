/**
 * Every node of what was read of the fleet, with what each DaemonSet has there: a plan of now for each DaemonSet (ADR 0082).
 *
 * Clusters are read some at a time, and of a plan only a code and a release are kept for each node.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { defined } from '@rollcall/base/defined.ts';
import { nodeName, type NodeName } from '../../core/model/identifiers.ts';
import type { ClusterReading, NodeReading, SetReading } from '../../core/status/node-map.ts';
import { codeOf } from '../../core/status/reason-groups.ts';
import { revisionHashOfPod } from '../../core/pod/pod-facts.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import { readNodes } from '../reconcile/read/read-view.ts';
import { explainRollout } from '../why/explain.ts';
import { outagesOfBasis } from '../why/standing.ts';
import type { FleetLook } from './fleet-look.ts';
import type { FoundCluster, ReadFleet } from './gather-fleet.ts';
import type { ReadSet } from './read-daemon-sets.ts';

const CLUSTERS_AT_ONCE = 8;

/** Of each cluster, in their order: node names, and DaemonSets with their nodes; `only`: of this DaemonSet alone. Rejects when a table fails. */
export function readNodesOf(
  { found, look }: Pick<ReadFleet, 'found' | 'look'>,
  only: NamespacedName | undefined,
): Promise<readonly Pick<ClusterReading, 'names' | 'sets'>[]> {
  return sideBySide(found, CLUSTERS_AT_ONCE, async (cluster) => {
    const names = await namesOf(cluster, look);
    const sets: SetReading[] = [];
    // One after the other: they share the nodes, which the first one loads.
    for (const set of cluster.sets) {
      if (only !== undefined && !isNamed(set, only)) continue;
      const name = `${set.namespace}/${set.name}`;
      sets.push({ name, nodes: await nodesOf(set, look) });
    }
    return { names, sets };
  });
}

function isNamed(set: NamespacedName, { namespace, name }: NamespacedName): boolean {
  return set.namespace === namespace && set.name === name;
}

/** None where the watcher was never heard, or the list of nodes is not whole. */
async function namesOf(
  { registration: { clusterUid }, meta }: FoundCluster,
  look: FleetLook,
): Promise<readonly NodeName[]> {
  if (meta === undefined) return [];
  const read = await readNodes({ ref: { clusterUid }, meta }, look);
  if (read.kind !== 'whole') return [];
  return read.objects.flatMap((object) => {
    if (object.kind === 'Opaque') return object.of === 'Node' ? [nodeName(object.name)] : [];
    return object.kind === 'Node' ? [object.name] : [];
  });
}

async function nodesOf(
  set: ReadSet,
  look: FleetLook,
): Promise<ReadonlyMap<NodeName, NodeReading> | undefined> {
  if (set.kind !== 'read') return undefined;
  const { stored } = set;
  const outages = outagesOfBasis(stored, look);
  const explained = await explainRollout(stored, { ...look, outages });
  if (explained === undefined) return undefined;
  const releases = new Map(
    explained.nodes.map(({ node, pods: [pod] }) => [node.name, pod && revisionHashOfPod(pod)]),
  );
  return new Map(
    explained.plan.verdicts().map((verdict) => {
      const release = releases.get(verdict.node);
      return [verdict.node, { code: codeOf(verdict), ...defined({ release }) }];
    }),
  );
}
