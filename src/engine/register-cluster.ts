/**
 * Registers a cluster with the embedded engine, and takes it over if asked to (design 5).
 *
 * An item that is there already is the truth: another clusterUid under the same id means that the
 * cluster was rebuilt, and nothing is written to it until it is registered again (row 90).
 * Takeover is entered only after the probe; a cluster that was taken over before stays so while its
 * sentinel was left alone. Copilot needs none: the built-in controller is expected.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Transport } from '../adapters/kubernetes/transport/transport.ts';
import { PRIVATE_RANGES } from '../adapters/kubernetes/egress/address-class.ts';
import { createHandBackAccess } from '../adapters/kubernetes/operator/hand-back-access.ts';
import { HttpsClusterConnector } from '../adapters/kubernetes/api/cluster-connector.ts';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { enterTakeover, isSentinelQuiet } from '../app/takeover/takeover-probe.ts';
import type { ClusterUid } from '../core/model/identifiers.ts';
import type { ClusterRegistration } from '../core/model/registration.ts';
import { SENTINEL_KEY } from '../core/may-act/takeover-sentinel.ts';
import type { ProbeAccess } from '../ports/cluster/hand-back-access.ts';
import type { RegistryStore } from '../ports/stores/registry-store.ts';
import type { ViewStore } from '../ports/stores/view-store.ts';
import { ensureSystemNamespace, openTransport, readClusterUid } from './reach-cluster.ts';
import type { EngineCluster, EngineOptions } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';
import { describeHolder, readWatcherLease, watchForVacancy } from './lease/lease-vacancy.ts';

export interface RegisterCluster {
  readonly cluster: EngineCluster;
  readonly senderRoleId: string;
  readonly stores: { readonly registry: RegistryStore; readonly view: ViewStore };
  readonly installation: string;
  readonly options: Pick<EngineOptions, 'lease' | 'probeWaitMs' | 'onProgress'>;
}

export interface RegisteredCluster {
  readonly uid: ClusterUid;
  /** Pulse of its Lease, if there is one, as it was judged free. */
  readonly freeLease?: string;
}

/** Registers, probes and takes over as asked. Throws EngineRefusal. */
export async function registerCluster(request: RegisterCluster): Promise<RegisteredCluster> {
  const { cluster, stores } = request;
  const transport = openTransport(cluster, cluster.probe);
  try {
    const uid = await readClusterUid(transport, cluster.server);
    const freeLease = await requireLease(request, transport);
    await ensureSystemNamespace(transport, cluster.server);
    const stored = await stores.registry.readCluster(cluster.id);
    if (stored !== undefined && stored.clusterUid !== uid) throw otherCluster(cluster, stored);
    const access = createHandBackAccess({ transport });
    // A takeover stays if it is still wanted, no rival was seen, and its sentinel stands untouched: otherwise the
    // built-in loop may have run meanwhile, and the probe is repeated.
    const wasTakenOver = cluster.mode === 'takeover' && stored?.mode === 'takeover';
    const isKept = wasTakenOver && (await isSentinelQuiet(stored, access));
    await writeRegistration(request, { uid, stored, isKept });
    if (!isKept) await leaveSentinel(stored, access);
    if (cluster.mode === 'takeover' && !isKept) await takeOver(request, access);
    return { uid, ...defined({ freeLease }) };
  } finally {
    transport.retire();
  }
}

/** Nothing is begun where another installation is at work: its watcher would be blind from then on (ADR 0024). */
async function requireLease(
  { cluster, installation, options }: RegisterCluster,
  transport: Transport,
): Promise<string | undefined> {
  if (options.lease === 'take') return undefined;
  const vacancy = await watchForVacancy({
    readLease: () => readWatcherLease(transport),
    clock: createSystemClock(),
    installation,
    onWatching: (limitMs) => {
      const seconds = String(Math.ceil(limitMs / 1000));
      options.onProgress?.(
        `checking that no other installation of Rollcall looks after ${cluster.id}: up to ${seconds} s …`,
      );
    },
  });
  if (vacancy.kind === 'vacant') return vacancy.pulse;
  // Its watcher, which reads it with a credential of its own, stands by if it must.
  if (vacancy.kind === 'unreadable') return undefined;
  throw new EngineRefusal({
    code: 'lease-held',
    message: `${cluster.id} is looked after by ${describeHolder(vacancy)}`,
    remedy:
      'Stop that one, or pass --take-lease: it then stands by, and is blind, until this process ends.',
  });
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

/** The sentinel of a takeover that is left; a failure leaves it behind, which does no harm. */
async function leaveSentinel(
  stored: ClusterRegistration | undefined,
  access: ProbeAccess,
): Promise<void> {
  if (stored?.sentinel === undefined) return;
  await access.deleteDaemonSet(SENTINEL_KEY, { uid: stored.sentinel.uid });
}

interface Found {
  readonly uid: ClusterUid;
  readonly stored: ClusterRegistration | undefined;
  readonly isKept: boolean;
}

async function writeRegistration(request: RegisterCluster, found: Found): Promise<void> {
  const { cluster, stores } = request;
  const { stored } = found;
  const wanted = wantedRegistration(request, found);
  if (stored !== undefined && isDeepStrictEqual(stored, wanted)) return;
  const result = await stores.registry.writeCluster(wanted, wanted.configVersion);
  if (result === 'uid-taken') {
    throw new EngineRefusal({
      code: 'already-registered',
      message: `The cluster at ${cluster.server} is registered under another name than ${cluster.id}.`,
      remedy: 'Use the kubeconfig as before, or start with an empty --data directory.',
    });
  }
  if (result === 'lost') {
    throw new EngineRefusal({
      code: 'registry-busy',
      message: `The registration of ${cluster.id} was changed at the same moment.`,
      remedy: 'Start again; if it happens again, another engine uses this --data directory.',
    });
  }
}

const NEW = { isFrozen: false, configVersion: 0 };

/** Takeover is never entered here: only `enterTakeover` does, after its probe. */
function wantedRegistration(
  { cluster, senderRoleId }: RegisterCluster,
  { uid, stored, isKept }: Found,
): ClusterRegistration {
  const { isFrozen, configVersion } = stored ?? NEW;
  const labels = stored?.labels ?? cluster.labels ?? {};
  const { id, server, caPem, functions: authentication } = cluster;
  return {
    id,
    clusterUid: uid,
    ...(isKept ? takeoverOf(stored) : { mode: cluster.mode === 'copilot' ? 'copilot' : 'observe' }),
    isFrozen,
    configVersion,
    senderRoleId,
    server,
    ...defined({ caPem }),
    // The user who starts the engine named this server; it may well be in a private network.
    egress: { privateRanges: PRIVATE_RANGES },
    authentication,
    labels,
  };
}

function takeoverOf(
  stored: ClusterRegistration | undefined,
): Pick<ClusterRegistration, 'mode' | 'takeoverProbedAtMs' | 'sentinel'> {
  const { takeoverProbedAtMs, sentinel } = stored ?? {};
  return { mode: 'takeover', ...defined({ takeoverProbedAtMs, sentinel }) };
}

async function takeOver(request: RegisterCluster, access: ProbeAccess): Promise<void> {
  const { cluster, stores, options } = request;
  options.onProgress?.(`checking that no built-in DaemonSet loop runs in ${cluster.id} …`);
  const clock = createSystemClock();
  const result = await enterTakeover(cluster.id, {
    access,
    registry: stores.registry,
    view: stores.view,
    connector: new HttpsClusterConnector({
      clock,
      egress: { loopback: 'allowed' },
      installation: request.installation,
    }),
    clock,
    random: createSystemRandom(),
    ...defined({ waitMs: options.probeWaitMs }),
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
      'Start kube-controller-manager with --controllers=*,-daemonset-controller, or use --mode copilot.',
  });
}
