/**
 * The cluster as the person at the terminal reaches it: through their own kubeconfig, with their rights.
 *
 * For what no function may do: the takeover probe, handing back, reading who a rebuilt cluster is. The
 * kubeconfig may be of any cluster, so its kube-system UID is always compared with the registered one
 * before anything is written. An exec plugin of that kubeconfig may run here (design 8).
 */
import { defined } from '@rollcall/base/defined.ts';
import { PRIVATE_RANGES } from '../../adapters/kubernetes/egress/address-class.ts';
import { HttpsClusterConnector } from '../../adapters/kubernetes/api/cluster-connector.ts';
import { createHandBackAccess } from '../../adapters/kubernetes/operator/hand-back-access.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Transport } from '../../adapters/kubernetes/transport/transport.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { openTransport, readClusterUid } from '../../engine/reach-cluster.ts';
import type { EngineCluster } from '../../engine/engine-options.ts';
import type { ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { HandBackAccess } from '../../ports/cluster/hand-back-access.ts';
import { refusal } from '../process/exit-codes.ts';
import { defaultKubeconfig, loadCluster } from './open-kubeconfig.ts';

/** Which kubeconfig. */
export interface OperatorOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A cluster, opened as the operator. */
export interface OperatorCluster {
  /** As the kubeconfig says it. */
  readonly server: string;
  readonly caPem?: string;
  /** Read from the cluster just now. */
  readonly clusterUid: ClusterUid;
  readonly access: HandBackAccess;
  readonly transport: Pick<Transport, 'send'>;
  /** Connects to this cluster with the operator's credential, whatever is registered, for this installation of Rollcall. */
  openConnector(installation: string | undefined): ClusterConnector;
  close(): void;
}

/** Opens the cluster of a kubeconfig. Throws CommandError and EngineRefusal. */
export async function openOperatorCluster(
  options: OperatorOptions,
  environment: NodeJS.ProcessEnv,
): Promise<OperatorCluster> {
  const file = options.kubeconfig ?? defaultKubeconfig(environment);
  const { context } = options;
  const cluster = await loadCluster({ file, ...defined({ context }) }, 'takeover');
  const { server, caPem } = cluster;
  const transport = openTransport(cluster, cluster.probe);
  try {
    const clusterUid = await readClusterUid(transport, server);
    return {
      server,
      ...defined({ caPem }),
      clusterUid,
      access: createHandBackAccess({ transport }),
      transport,
      openConnector: (installation) => connectorOf(cluster, installation),
      close: () => {
        transport.retire();
      },
    };
  } catch (error) {
    transport.retire();
    throw error;
  }
}

/** The user named this server; it may well be on this machine or in a private network. */
function connectorOf(
  { server, caPem, probe }: EngineCluster,
  installation: string | undefined,
): ClusterConnector {
  const connector = new HttpsClusterConnector({
    clock: createSystemClock(),
    egress: { loopback: 'allowed' },
    ...defined({ installation }),
  });
  return {
    connect: ({ caPem: _registered, ...registration }) =>
      connector.connect({
        ...registration,
        server,
        ...defined({ caPem }),
        egress: { privateRanges: PRIVATE_RANGES },
        authentication: probe,
      }),
    forget: (id) => {
      connector.forget(id);
    },
  };
}

/** Opens the cluster for one use, and closes it. */
export async function withOperator<T>(
  open: () => Promise<OperatorCluster>,
  use: (operator: OperatorCluster) => Promise<T>,
): Promise<T> {
  const operator = await open();
  try {
    return await use(operator);
  } finally {
    operator.close();
  }
}

/** Throws CommandError (3) unless the kubeconfig leads to the registered cluster. */
export function requireSameCluster(
  operator: Pick<OperatorCluster, 'clusterUid' | 'server'>,
  registration: Pick<ClusterRegistration, 'id' | 'clusterUid'>,
): void {
  if (operator.clusterUid === registration.clusterUid) return;
  throw refusal(
    `The kubeconfig leads to ${operator.server}, which is another cluster (${operator.clusterUid}) ` +
      `than the registered ${registration.id} (${registration.clusterUid}). Nothing was changed.`,
    `Pass --kubeconfig and --context of ${registration.id}; if it was rebuilt: rollcall cluster reset ${registration.id}`,
  );
}
