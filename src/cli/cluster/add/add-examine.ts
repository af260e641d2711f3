/**
 * Step 1 of `cluster add`: what there is to add, and what the steps after it share. Reads only.
 *
 * The address and the certificate authority come from the kubeconfig or from EKS, the identity from the
 * cluster itself; only for a cluster that cannot be reached from here may they be given by hand.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonMember, type Json } from '@rollcall/base/json.ts';
import { readRegistry } from '../../../app/clusters/read-registry.ts';
import { DISCOVERY_PATH } from '../../../core/issuer/issuer-documents.ts';
import {
  CLUSTER_UID_PATH,
  clusterUid,
  clusterUidIn,
  type ClusterUid,
} from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { readCaFile } from '../../command-line/cluster-arguments.ts';
import type { CommandContext } from '../../command-line/command-module.ts';
import { plainText } from '../../command-line/text-table.ts';
import { failure, usageError } from '../../process/exit-codes.ts';
import { requireProfile } from '../../reach/aws-profiles.ts';
import { defaultKubeconfig } from '../../reach/open-kubeconfig.ts';
import type { AddRequest } from './add-request.ts';
import { connectByKubeconfig, connectToEks } from '../../reach/cluster-connection.ts';
import type { ClusterConnection } from '../../reach/cluster-connection.ts';
import type { Stack } from '../../reach/stack.ts';
import { describeEksCluster, openClusterAccount, requireAccessEntries } from './eks-cluster.ts';
import type { ClusterAccount, EksCluster } from './eks-cluster.ts';

/** Shared by the steps, and by all clusters of one import. */
export interface AddContext extends Pick<
  CommandContext,
  'clock' | 'signal' | 'environment' | 'say'
> {
  readonly stack: Stack;
  /** True: look at everything, write nothing. */
  readonly isDryRun: boolean;
  /** Every registration of the stack, read once. */
  readonly registrations: () => Promise<ReadonlyMap<string, ClusterRegistration>>;
  /** Clients for the account of the cluster: of its profile, or of the stack. Throws CommandError without such a profile. */
  readonly account: (which: Pick<AddRequest, 'clusterProfile' | 'eksRegion'>) => ClusterAccount;
  readonly close: () => void;
}

/** Makes one; the caller closes it. */
export function createAddContext(
  stack: Stack,
  context: CommandContext,
  isDryRun: boolean,
): AddContext {
  const accounts = new Map<string, ClusterAccount>();
  let registrations: Promise<ReadonlyMap<string, ClusterRegistration>> | undefined;
  return {
    ...context,
    stack,
    isDryRun,
    registrations: () => (registrations ??= readRegistrations(stack)),
    account: ({ clusterProfile, eksRegion }) => {
      if (clusterProfile !== undefined) requireProfile(clusterProfile, context.environment);
      const profile = clusterProfile ?? stack.aws.profile;
      const region = eksRegion ?? stack.aws.region;
      const key = JSON.stringify([profile, region]);
      const account = accounts.get(key) ?? openClusterAccount({ region, ...defined({ profile }) });
      accounts.set(key, account);
      return account;
    },
    close: () => {
      for (const account of accounts.values()) account.close();
    },
  };
}

/** A registration that cannot be read must not hide the others; adding under its id will fail then. */
async function readRegistrations({ registry }: Stack): ReturnType<AddContext['registrations']> {
  const { registrations } = await readRegistry(registry);
  return new Map(registrations.map((one) => [one.id, one]));
}

export interface ClusterFacts {
  readonly server: string;
  readonly caPem?: string;
  readonly clusterUid: ClusterUid;
  /** e.g. `v1.36.3`. */
  readonly version: string;
  /** https address; absent if the API server does not say it to this user. */
  readonly issuer?: string;
}

export interface ExaminedCluster {
  readonly facts: ClusterFacts;
  readonly eks?: EksCluster;
  /** Absent when the cluster was not asked; the caller retires its transport. */
  readonly connection?: ClusterConnection;
}

export interface AddTask {
  readonly request: AddRequest;
  readonly examined: ExaminedCluster;
  readonly context: AddContext;
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
    clusterUid: clusterUid(request.clusterUid ?? ''),
    version: 'not asked',
    ...defined({ caPem, issuer }),
  };
}

/** Three reads, none of which changes anything; who it is, is the UID of kube-system, as everywhere (S6). */
async function readClusterFacts(connection: ClusterConnection): Promise<ClusterFacts> {
  const { server, caPem } = connection;
  const found = clusterUidIn(await read(connection, CLUSTER_UID_PATH));
  if (found === undefined) {
    throw failure(
      `${server} answered, but not as a Kubernetes API server does.`,
      'Check the server address in the kubeconfig.',
    );
  }
  const version = jsonMember(await read(connection, '/version'), 'gitVersion');
  const issuer = await readIssuer(connection);
  return {
    server,
    clusterUid: found,
    version: typeof version === 'string' ? plainText(version) : 'unknown',
    ...defined({ caPem, issuer }),
  };
}

/** Not every user may read it, and only some ways of getting credentials need it. */
async function readIssuer({ transport }: ClusterConnection): Promise<string | undefined> {
  const answer = await transport.send({ method: 'GET', path: DISCOVERY_PATH });
  if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
  const issuer = jsonMember(answer.body, 'issuer');
  return typeof issuer === 'string' && URL.canParse(issuer) ? issuer : undefined;
}

async function read({ transport, server }: ClusterConnection, path: string): Promise<Json> {
  const answer = await transport.send({ method: 'GET', path });
  if (answer.kind !== 'answered') {
    throw failure(
      `${server} cannot be reached: ${answer.message}.`,
      'Check that the cluster runs and that this machine can reach it.',
    );
  }
  if (answer.status === 200 && isJsonObject(answer.body)) return answer.body;
  const said = jsonMember(answer.body, 'message');
  const detail = typeof said === 'string' ? plainText(said) : `HTTP ${String(answer.status)}`;
  throw failure(
    `${server} refuses to show ${path}: ${detail}.`,
    'Use a user who may read the namespace kube-system, e.g. a cluster administrator.',
  );
}
