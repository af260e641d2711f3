/**
 * Keys of both tables (design 4). Every access is by whole key, or by partition in key order.
 *
 * What comes from outside is part of a key only after its own separator, so that no name can form
 * another item's key: UIDs and cluster ids hold neither `#` nor `/`, and namespaces hold no `/`.
 */
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetInstance } from '../../ports/stores/fleet-rollout-store.ts';
import type { TokenPurpose } from '../../ports/stores/credential-store.ts';
import type { DaemonSetRef, NamespacedName, SliceRef } from '../../ports/stores/view-store.ts';

/** Primary key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** META of a cluster. */
export function metaKey(cluster: ClusterUid): ItemKey {
  return { pk: `CLUSTER#${cluster}`, sk: 'META' };
}

/** Which registration a cluster UID belongs to. */
export function clusterUidKey(cluster: ClusterUid): ItemKey {
  return { pk: `CLUSTER-UID#${cluster}`, sk: 'CLAIM' };
}

/** One slice: `NODES#cluster#nn`, `PODS#cluster/uid#nn` or `REVISIONS#cluster/uid#nn`. */
export function sliceKey(ref: SliceRef): ItemKey {
  return { pk: slicePartition(ref), sk: 'SLICE' };
}

/** What one slice has no room for. */
export function olderTombstonesKey(ref: SliceRef): ItemKey {
  return { pk: slicePartition(ref), sk: 'TOMBSTONES' };
}

function slicePartition(ref: SliceRef): string {
  const index = String(ref.index).padStart(2, '0');
  const [kind, uid] = ref.set.split('/', 2);
  const owner = uid === undefined ? ref.clusterUid : `${ref.clusterUid}/${uid}`;
  return `${String(kind).toUpperCase()}#${owner}#${index}`;
}

/** Partition of what belongs to one DaemonSet. */
export function daemonSetPartition(ref: DaemonSetRef): string {
  return `DS#${ref.clusterUid}/${ref.uid}`;
}

/** One item of a DaemonSet. */
export function daemonSetKey(ref: DaemonSetRef, part: 'DAEMONSET' | 'POSITION' | 'STATE'): ItemKey {
  return { pk: daemonSetPartition(ref), sk: part };
}

/** Partition of a cluster's names. */
export function namePartition(cluster: ClusterUid): string {
  return `NAMES#${cluster}`;
}

/** One name. */
export function nameKey(cluster: ClusterUid, key: NamespacedName): ItemKey {
  return { pk: namePartition(cluster), sk: `${key.namespace}/${key.name}` };
}

/** A registration. */
export function registrationKey(id: ClusterId): ItemKey {
  return { pk: `CLUSTER#${id}`, sk: 'CLUSTER' };
}

/** The rival that was seen in a cluster: beside its registration, and the one thing of it that `reconcile` may write. */
export function rivalKey(id: ClusterId): ItemKey {
  return { pk: `RIVAL#${id}`, sk: 'RIVAL' };
}

const CREDENTIAL_PREFIXES: Readonly<Record<TokenPurpose, string>> = {
  act: 'CREDENTIAL',
  // Another prefix, not another sort key: roles are bounded by partition (infra/roles.yml).
  ask: 'REQUEST-CREDENTIAL',
};

/** The sealed token of a cluster for one purpose. */
export function credentialKey(id: ClusterId, purpose: TokenPurpose): ItemKey {
  return { pk: `${CREDENTIAL_PREFIXES[purpose]}#${id}`, sk: 'TOKEN' };
}

/** The one partition of the directory: registrations are few and change rarely. */
export const DIRECTORY_PARTITION = 'DIRECTORY#00';

/** The one partition of the heads of FleetDaemonSets: they are few, and are written when somebody applies one. */
export const FLEETS_PARTITION = 'FLEETS#00';

/** The head of a FleetDaemonSet. */
export function fleetHeadKey({ namespace, name }: FleetKey): ItemKey {
  return { pk: FLEETS_PARTITION, sk: `${namespace}/${name}` };
}

/** A document of a FleetDaemonSet. */
export function fleetDocumentKey({ namespace, name }: FleetKey, documentId: string): ItemKey {
  return { pk: `FLEET#${namespace}/${name}`, sk: `DOCUMENT#${documentId}` };
}

/** The one partition of the records of their rollouts: the schedule goes through them by one query. */
export const FLEET_ROLLOUTS_PARTITION = 'FLEET-ROLLOUTS#00';

/** The record of the rollout of a FleetDaemonSet. */
export function fleetRecordKey({ namespace, name }: FleetKey): ItemKey {
  return { pk: FLEET_ROLLOUTS_PARTITION, sk: `${namespace}/${name}` };
}

/** What grows with the clusters of a rollout: of this uid alone, so that nothing of a former one is ever taken for its own. */
function fleetRolloutPartition({ namespace, name, uid }: FleetInstance): string {
  return `FLEET-ROLLOUT#${namespace}/${name}#${uid}`;
}

/** The record of one cluster. */
export function fleetClusterKey(fleet: FleetInstance, cluster: ClusterId): ItemKey {
  return { pk: fleetRolloutPartition(fleet), sk: `CLUSTER#${cluster}` };
}

/** One page of a list of members; of an empty id and page 0: where all of them begin. */
export function fleetMembersKey(fleet: FleetInstance, listId: string, page: number): ItemKey {
  const index = String(page).padStart(4, '0');
  return { pk: fleetRolloutPartition(fleet), sk: `MEMBERS#${listId}#${index}` };
}

/** One page of what steps found at clusters. */
export function fleetLooksKey(fleet: FleetInstance, page: number): ItemKey {
  return { pk: fleetRolloutPartition(fleet), sk: `LOOKS#${String(page).padStart(4, '0')}` };
}

/** How often what decides the place of clusters was changed. */
export const REGISTRY_REVISION_KEY: ItemKey = { pk: 'REGISTRY#00', sk: 'REVISION' };
/** Where fleets are mirrored. */
export const FLEET_MIRROR_KEY: ItemKey = { pk: 'FLEET-MIRROR#00', sk: 'MIRROR' };

/** What is frozen for the whole stack: one item, read with registrations. Functions may read it, and write it never. */
export const FREEZE_KEY: ItemKey = { pk: 'FREEZE#00', sk: 'FREEZE' };

/** Who stopped the functions, and why: beside the freeze, under the same rights of operators. */
export const STOP_KEY: ItemKey = { pk: 'FREEZE#00', sk: 'STOP' };

/** What `resync` remembers of its walk through the directory; in the view table. */
export const WALK_KEY: ItemKey = { pk: 'RESYNC#00', sk: 'WALK' };
