/**
 * Reads what is known of one cluster for a step of a fleet: registration, META, name, DaemonSet and state. Asks no cluster.
 *
 * Five small reads, two rounds; two more where no node should run it. One cluster that cannot be read hides no other: it is `unclear`, and evidence of nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterEvidence, HeardCluster } from '../../../core/fleet/rollout/judge-cluster.ts';
import { isOfflineAt } from '../../../core/fleet/cluster-facts.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { whyUntouched } from '../../../core/fleet/plan-cluster.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetRef } from '../../../ports/stores/view-store.ts';
import { seenDaemonSet } from '../seen-daemon-set.ts';
import type { StepFleetsDependencies } from './dependencies.ts';
import { readFewNodes } from './few-nodes.ts';

/** What is read, and from where. */
type EvidenceSources = Pick<StepFleetsDependencies, 'registry' | 'view' | 'clock' | 'log'>;

/** Evidence, and the registration that it is of; absent where it is gone. */
export interface FoundCluster {
  readonly evidence: ClusterEvidence;
  readonly registration?: ClusterRegistration;
}

/** Reads one cluster. Never rejects. */
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
