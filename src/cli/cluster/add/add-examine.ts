/**
 * Step 1 of `cluster add`: what there is to add. Reads only.
 *
 * The address and the certificate authority come from the kubeconfig or from EKS, the identity from the
 * cluster itself; only for a cluster that cannot be reached from here may they be given by hand.
 */
import { defined } from '@rollcall/base/defined.ts';
import { clusterUid } from '../../../core/model/identifiers.ts';
import { readCaFile } from '../../command-line/cluster-arguments.ts';
import { usageError } from '../../process/exit-codes.ts';
import { defaultKubeconfig } from '../../reach/open-kubeconfig.ts';
import type { AddContext } from './add-context.ts';
import type { AddRequest } from './add-request.ts';
import { connectByKubeconfig, connectToEks } from '../../reach/cluster-connection.ts';
import type { ClusterConnection } from '../../reach/cluster-connection.ts';
import { readClusterFacts } from './cluster-facts.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import { describeEksCluster, requireAccessEntries } from './eks-cluster.ts';
import type { EksCluster } from './eks-cluster.ts';

/** What step 1 found. */
export interface ExaminedCluster {
  readonly facts: ClusterFacts;
  readonly eks?: EksCluster;
  /** Absent when the cluster was not asked; the caller retires its transport. */
  readonly connection?: ClusterConnection;
}

/** Examines the cluster of a request. Throws CommandError. */
export async function examineCluster(
  request: AddRequest,
  context: AddContext,
): Promise<ExaminedCluster> {
  const eks = await examineEks(request, context);
  if (request.clusterUid !== undefined) {
    return { facts: takeGiven(request, eks), ...defined({ eks }) };
  }
  const connection = await connect(request, context, eks);
  try {
    requireSameServer(connection, eks);
    const asked = await readClusterFacts(connection);
    // The watcher's role trusts who signs the tokens, and AWS knows that for EKS.
    const issuer = eks?.issuer ?? asked.issuer;
    const facts = {
      ...asked,
      ...defined({ issuer }),
      ...(eks === undefined ? {} : { server: eks.server, caPem: eks.caPem }),
    };
    return { facts, connection, ...defined({ eks }) };
  } catch (error) {
    connection.transport.retire();
    throw error;
  }
}

async function examineEks(
  request: AddRequest,
  context: AddContext,
): Promise<EksCluster | undefined> {
  if (request.eks === undefined) return undefined;
  const account = context.account(request);
  const eks = await describeEksCluster(account.eks, { name: request.eks, region: account.region });
  if (request.auth === 'eks') requireAccessEntries(eks);
  return eks;
}

function connect(
  request: AddRequest,
  { clock, environment, account }: AddContext,
  eks: EksCluster | undefined,
): Promise<ClusterConnection> {
  const { kubeconfig, context } = request;
  if (eks === undefined || kubeconfig !== undefined || context !== undefined) {
    const file = kubeconfig ?? defaultKubeconfig(environment);
    return connectByKubeconfig({ file, clock, ...defined({ context }) });
  }
  return Promise.resolve(
    connectToEks({
      ...eks,
      clusterName: eks.name,
      awsCredentials: () => account(request).awsCredentials(),
      clock,
    }),
  );
}

/** The identity comes from one, the address from the other: they must be the same cluster (S6). */
function requireSameServer({ server }: ClusterConnection, eks: EksCluster | undefined): void {
  if (eks === undefined) return;
  const host = (address: string): string => URL.parse(address)?.host.toLowerCase() ?? address;
  if (host(server) === host(eks.server)) return;
  throw usageError(
    `The kubeconfig leads to ${server}, the EKS cluster ${eks.name} is at ${eks.server}.`,
    'Pass the context of that cluster, or leave --kubeconfig and --context out.',
  );
}

function takeGiven(request: AddRequest, eks: EksCluster | undefined): ClusterFacts {
  const { caFile } = request;
  const caPem = eks?.caPem ?? (caFile === undefined ? undefined : readCaFile(caFile));
  const issuer = request.oidcIssuer ?? eks?.issuer;
  return {
    server: eks?.server ?? request.server ?? '',
    ...defined({ caPem }),
    clusterUid: clusterUid(request.clusterUid ?? ''),
    version: 'not asked',
    ...defined({ issuer }),
  };
}
