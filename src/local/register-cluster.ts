/**
 * Registers a cluster with the embedded engine, and takes it over if asked to (design 5).
 *
 * An item that is there already is the truth: another clusterUid under the same id means that the
 * cluster was rebuilt, and nothing is written to it until somebody registers it again (row 90).
 * Takeover is entered only after the probe; a cluster that was taken over before stays so.
 */
import { isDeepStrictEqual } from 'node:util';
import { createProbeAccess } from '../adapters/kubernetes/probe-access.ts';
import { createClusterConnector } from '../adapters/kubernetes/cluster-connector.ts';
import type { Transport } from '../adapters/kubernetes/transport.ts';
import { createSystemClock } from '../adapters/system/system-clock.ts';
import { createSystemRandom } from '../adapters/system/system-random.ts';
import { enterTakeover } from '../app/takeover-probe.ts';
import type { ClusterUid } from '../core/model/identifiers.ts';
import type { ClusterRegistration } from '../core/model/registration.ts';
import type { RegistryStore } from '../ports/registry-store.ts';
import type { ViewStore } from '../ports/view-store.ts';
import { ensureSystemNamespace, readClusterUid } from './cluster-preparation.ts';
import type { EngineCluster, EngineOptions } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';
import { openTransport } from './open-transport.ts';

/** What registering needs. */
export interface RegisterCluster {
  readonly cluster: EngineCluster;
  readonly senderRoleId: string;
  readonly stores: { readonly registry: RegistryStore; readonly view: ViewStore };
  readonly options: Pick<EngineOptions, 'probeWaitMs' | 'onProgress'>;
}

/** Registers, probes and takes over as asked; returns the cluster's UID. Throws EngineRefusal. */
export async function registerCluster(request: RegisterCluster): Promise<ClusterUid> {
  const { cluster, stores } = request;
  const transport = openTransport(cluster, cluster.probe);
  try {
    const uid = await readClusterUid(transport, cluster.server);
    await ensureSystemNamespace(transport, cluster.server);
    const stored = await stores.registry.readCluster(cluster.id);
    if (stored !== undefined && stored.clusterUid !== uid) throw otherCluster(cluster, stored);
    await writeRegistration(request, { uid, stored });
    const isTakenOver = stored?.mode === 'takeover';
    if (cluster.mode === 'takeover' && !isTakenOver) await takeOver(request, transport);
    return uid;
  } finally {
    transport.retire();
  }
}

function otherCluster(cluster: EngineCluster, stored: ClusterRegistration): EngineRefusal {
  return new EngineRefusal({
    code: 'other-cluster',
    message:
      `${cluster.id} is registered as the cluster ${stored.clusterUid}, ` +
      `but ${cluster.server} is another one.`,
    remedy: 'Was it rebuilt? Then start with an empty --data directory to register it anew.',
  });
}

async function writeRegistration(
  request: RegisterCluster,
  found: { readonly uid: ClusterUid; readonly stored: ClusterRegistration | undefined },
): Promise<void> {
  const { cluster, stores } = request;
  const { stored } = found;
  const wanted = wantedRegistration(request, found);
  if (stored !== undefined && isDeepStrictEqual(stored, wanted)) return;
  const result = await stores.registry.writeCluster(wanted, wanted.configVersion);
  if (result === 'lost') {
    throw new EngineRefusal({
      code: 'registry-busy',
      message: `The registration of ${cluster.id} was changed at the same moment.`,
      remedy: 'Start again; if it happens again, another engine uses this --data directory.',
    });
  }
}

/** Takeover is never entered here: only `enterTakeover` does, after its probe. */
function wantedRegistration(
  { cluster, senderRoleId }: RegisterCluster,
  { uid, stored }: { readonly uid: ClusterUid; readonly stored: ClusterRegistration | undefined },
): ClusterRegistration {
  const kept = stored ?? { isFrozen: false, configVersion: 0, labels: {} };
  return {
    id: cluster.id,
    clusterUid: uid,
    ...modeOf(cluster, stored),
    isFrozen: kept.isFrozen,
    configVersion: kept.configVersion,
    senderRoleId,
    server: cluster.server,
    ...(cluster.caPem === undefined ? {} : { caPem: cluster.caPem }),
    authentication: cluster.functions,
    labels: kept.labels,
  };
}

/** A cluster that was taken over stays so if that is still wanted; everything else observes first. */
function modeOf(
  cluster: EngineCluster,
  stored: ClusterRegistration | undefined,
): Pick<ClusterRegistration, 'mode' | 'takeoverProbedAtMs'> {
  if (cluster.mode !== 'takeover' || stored?.mode !== 'takeover') return { mode: 'observe' };
  const { takeoverProbedAtMs } = stored;
  return { mode: 'takeover', ...(takeoverProbedAtMs === undefined ? {} : { takeoverProbedAtMs }) };
}

async function takeOver(request: RegisterCluster, transport: Transport): Promise<void> {
  const { cluster, stores, options } = request;
  options.onProgress?.(`checking that no built-in DaemonSet loop runs in ${cluster.id} …`);
  const clock = createSystemClock();
  const result = await enterTakeover(cluster.id, {
    access: createProbeAccess({ transport }),
    registry: stores.registry,
    view: stores.view,
    connector: createClusterConnector({ clock }),
    clock,
    random: createSystemRandom(),
    ...(options.probeWaitMs === undefined ? {} : { waitMs: options.probeWaitMs }),
  });
  if (result.kind === 'entered') return;
  if (result.kind === 'failed') {
    throw new EngineRefusal({
      code: 'probe-failed',
      message: `The takeover probe could not be carried out: ${result.message}.`,
      remedy:
        'The kubeconfig’s user must be able to create and delete a DaemonSet in rollcall-system.',
    });
  }
  throw new EngineRefusal({
    code: 'built-in-controller-runs',
    message: `Takeover of ${cluster.id} is refused: its built-in DaemonSet loop is on, and two controllers would fight.`,
    remedy:
      'Start kube-controller-manager with --controllers=*,-daemonset-controller, or use --mode observe.',
  });
}
