/**
 * Reads what is known of one cluster for a step of a fleet, in five small reads. Asks no cluster.
 *
 * One cluster that cannot be read hides no other: it is `unclear`, and evidence of nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterEvidence, HeardCluster } from '../../../core/fleet/rollout/judge-cluster.ts';
import { isOfflineAt } from '../../../core/fleet/cluster-facts.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { whyUntouched } from '../../../core/fleet/plan-cluster.ts';
import type { ClusterId, ClusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetRef, ViewReader } from '../../../ports/stores/view-store.ts';
import { seenDaemonSet } from '../gather-clusters.ts';
import type { StepFleetsDependencies } from './dependencies.ts';
import type { NodeProjection } from '../../../core/model/projections.ts';

type EvidenceSources = Pick<StepFleetsDependencies, 'registry' | 'view' | 'clock' | 'log'>;

/** Evidence, and the registration that it is of; absent where it is gone. */
export interface FoundCluster {
  readonly evidence: ClusterEvidence;
  readonly registration?: ClusterRegistration;
}

export async function readEvidence(
  cluster: ClusterId,
  key: FleetKey,
  sources: EvidenceSources,
): Promise<FoundCluster> {
  try {
    const registration = await sources.registry.readCluster(cluster);
    if (registration === undefined) return { evidence: { kind: 'gone', cluster } };
    return { registration, evidence: await readRegistered(registration, key, sources) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    sources.log.error('a cluster of a fleet could not be read', { cluster }, error);
    return { evidence: { kind: 'unclear', cluster, why } };
  }
}

async function readRegistered(
  registration: ClusterRegistration,
  { namespace, name }: FleetKey,
  { view, clock }: EvidenceSources,
): Promise<ClusterEvidence> {
  const { id: cluster, clusterUid, mode, labels } = registration;
  const untouched = whyUntouched(registration);
  if (untouched !== undefined) return { kind: 'untouched', cluster, why: untouched };
  const [meta, found] = await Promise.all([
    view.readMeta(clusterUid),
    view.readName(clusterUid, { namespace, name }),
  ]);
  if (meta === undefined) return { kind: 'offline', cluster };
  const nowMs = clock.nowMs();
  if (isOfflineAt(meta.lastSentAtMs, nowMs)) {
    return { kind: 'offline', cluster, silentForMs: nowMs - meta.lastSentAtMs };
  }
  if (!meta.isComplete) {
    return { kind: 'unclear', cluster, why: meta.incompleteReason ?? 'its view is not whole' };
  }
  const heard = {
    kind: 'heard' as const,
    cluster,
    clusterUid,
    mode,
    labels,
    heardAtMs: meta.lastSentAtMs,
  };
  if (found === undefined || found.uid === null) return { ...heard, daemonSet: null };
  return { ...heard, ...(await readObject({ clusterUid, uid: found.uid }, view)) };
}

/** The DaemonSet, its state, and whether there is no node at all where it should run on none. */
async function readObject(
  ref: DaemonSetRef,
  view: EvidenceSources['view'],
): Promise<Pick<HeardCluster, 'daemonSet' | 'isWithoutNodes' | 'state'>> {
  const [item, state] = await Promise.all([view.readDaemonSet(ref), view.readState(ref)]);
  const daemonSet = item === undefined ? null : seenDaemonSet(item);
  const isUnwanted = daemonSet?.status?.desiredNumberScheduled === 0;
  const isWithoutNodes = isUnwanted && (await hasNoNode(ref, view));
  return { ...defined({ daemonSet, state }), ...(isWithoutNodes ? { isWithoutNodes } : {}) };
}

/** True if its view is whole and shows not one node. */
async function hasNoNode(
  { clusterUid }: DaemonSetRef,
  view: EvidenceSources['view'],
): Promise<boolean> {
  // A cluster of more nodes than a slice has is judged by what it ran on.
  return (await readFewNodes(clusterUid, view))?.nodes.length === 0;
}

interface FewNodes {
  readonly nodes: readonly NodeProjection[];
  readonly heardAtMs: number;
}

/** Undefined: its view is not whole, it has more nodes, or one of them cannot be told. Rejects when the table fails. */
export async function readFewNodes(
  clusterUid: ClusterUid,
  view: Pick<ViewReader, 'readMeta' | 'readSlice'>,
): Promise<FewNodes | undefined> {
  const [meta, slice] = await Promise.all([
    view.readMeta(clusterUid),
    view.readSlice({ clusterUid, set: 'nodes', index: 0 }),
  ]);
  if (meta?.isComplete !== true || meta.sliceCount !== 1 || slice === undefined) return undefined;
  const nodes = slice.objects.flatMap(({ object }) => (object.kind === 'Node' ? [object] : []));
  if (nodes.length < slice.objects.length) return undefined;
  return { nodes, heardAtMs: meta.lastSentAtMs };
}
