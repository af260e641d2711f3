/**
 * Gathers what a plan needs to know of clusters: registrations, and what the views of placed ones
 * show. Reads tables, asks no cluster. What cannot be read hides no other cluster: it is named or
 * left out.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { compilePlacement } from '../../core/fleet/choose-clusters.ts';
import type { ClusterFacts, ObservedCluster } from '../../core/fleet/cluster-facts.ts';
import type { FleetDaemonSet, FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { NodeProjection } from '../../core/model/projections.ts';
import type { ClusterMeta, DaemonSetItem } from '../../core/model/view-items.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewReader } from '../../ports/stores/view-store.ts';
import { readRegistry } from '../clusters/read-registry.ts';

/** Clusters observed side by side. */
const AT_ONCE = 16;

interface ClusterSources {
  readonly registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>;
  readonly view: Pick<ViewReader, 'readMeta' | 'readName' | 'readDaemonSet' | 'readSlice'>;
}

interface GatheredClusters {
  readonly clusters: readonly ClusterFacts[];
  /** Registrations that cannot be read: whether the fleet is placed there is unknown. */
  readonly unreadable: readonly { readonly id: string; readonly reason: string }[];
}

/** Gathers registrations and views. Rejects when a table fails. */
export async function gatherClusters(
  fleet: FleetDaemonSet,
  { registry, view }: ClusterSources,
): Promise<GatheredClusters> {
  const { registrations, unreadable } = await readRegistry(registry);
  const isPlaced = compilePlacement(fleet.placement);
  const clusters = await sideBySide(
    registrations,
    AT_ONCE,
    async (registration): Promise<ClusterFacts> => {
      if (!isPlaced(registration)) return registration;
      const seen = await observeCluster(registration.clusterUid, fleet, view);
      return seen === undefined ? registration : { ...registration, seen };
    },
  );
  return { clusters: clusters.map(factsOf), unreadable };
}

/** Without credentials and endpoints: a plan is printed. */
function factsOf({ id, labels, mode, isFrozen, rival, seen }: ClusterFacts): ClusterFacts {
  return {
    id,
    labels,
    mode,
    isFrozen,
    ...(rival === undefined ? {} : { rival }),
    ...(seen === undefined ? {} : { seen }),
  };
}

/** What the view shows of one cluster; undefined: nothing was ever heard of it. Rejects when a table fails. */
export async function observeCluster(
  cluster: ClusterUid,
  key: FleetKey,
  view: ClusterSources['view'],
): Promise<ObservedCluster | undefined> {
  const meta = await view.readMeta(cluster);
  if (meta === undefined) return undefined;
  const heard = { heardAtMs: meta.lastSentAtMs };
  if (!meta.isComplete) return heard;
  const [daemonSet, nodes] = await Promise.all([
    readDaemonSet(cluster, key, view),
    readNodes(cluster, meta, view),
  ]);
  return {
    ...heard,
    ...(daemonSet === undefined ? {} : { daemonSet }),
    ...(nodes === undefined ? {} : { nodes }),
  };
}

/** Null: there is none; undefined: it could not be read. */
async function readDaemonSet(
  clusterUid: ClusterUid,
  { namespace, name }: FleetKey,
  view: ClusterSources['view'],
): Promise<ObservedCluster['daemonSet']> {
  const found = await view.readName(clusterUid, { namespace, name });
  if (found === undefined || found.uid === null) return null;
  const item = await view.readDaemonSet({ clusterUid, uid: found.uid });
  return item && seenDaemonSet(item);
}

/** Undefined: a slice is missing, or a node travelled opaque. */
async function readNodes(
  clusterUid: ClusterUid,
  { sliceCount }: ClusterMeta,
  view: ClusterSources['view'],
): Promise<readonly NodeProjection[] | undefined> {
  const indexes = Array.from({ length: sliceCount }, (_, index) => index);
  const slices = await Promise.all(
    indexes.map((index) => view.readSlice({ clusterUid, set: 'nodes', index })),
  );
  const nodes: NodeProjection[] = [];
  for (const slice of slices) {
    if (slice === undefined) return undefined;
    for (const { object } of slice.objects) {
      if (object.kind !== 'Node') return undefined;
      nodes.push(object);
    }
  }
  return nodes;
}

/** Null: it was deleted; undefined: it is there, and travelled opaque. */
export function seenDaemonSet({
  object,
  opaqueReason,
}: DaemonSetItem): DaemonSetObject | null | undefined {
  return object ?? (opaqueReason === undefined ? null : undefined);
}
