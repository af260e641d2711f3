/**
 * An EKS cluster as AWS describes it, and the access entries that let the functions in.
 *
 * One entry for each role of a function that connects, with one group and one user name for all: what they
 * may do is said by RBAC in the cluster (infra/functions), never by an access policy of EKS. The API server
 * knows a role by its ARN, so a cluster of another account needs nothing more.
 */
import type { Cluster, EKSClient } from '@aws-sdk/client-eks';
import {
  CreateAccessEntryCommand,
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  ListClustersCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateAccessEntryCommand,
} from '@aws-sdk/client-eks';
import { CommandError, EXIT } from '../../exit-codes.ts';

/** What AWS says of a cluster. */
export interface EksCluster {
  readonly name: string;
  readonly region: string;
  readonly arn: string;
  readonly server: string;
  readonly caPem: string;
  /** Absent for clusters without an OIDC issuer. */
  readonly issuer?: string;
  /** `CONFIG_MAP` allows no access entries. */
  readonly authenticationMode: string;
}

/** What came of one access entry. */
export interface AccessEntryResult {
  readonly principalArn: string;
  readonly result: 'created' | 'present' | 'updated' | 'planned';
}

/** User name and group of the functions in an EKS cluster. */
const FUNCTIONS_USER = 'rollcall-functions';

type Client = Pick<EKSClient, 'send'>;

/** Asks AWS for a cluster. Throws CommandError when there is none, or it is not usable yet. */
export async function describeEksCluster(
  client: Client,
  which: { readonly name: string; readonly region: string },
): Promise<EksCluster> {
  const { name, region } = which;
  const { arn, endpoint, status, identity, ...described } = await findEksCluster(client, which);
  const ca = described.certificateAuthority?.data;
  if (arn === undefined || endpoint === undefined || ca === undefined) {
    throw new CommandError({
      message: `The EKS cluster ${name} has no endpoint yet: it is ${status ?? 'of unknown status'}.`,
      remedy: 'Wait until `aws eks wait cluster-active` ends, then repeat the command.',
      exitCode: EXIT.failed,
    });
  }
  const issuer = identity?.oidc?.issuer;
  return {
    name,
    region,
    arn,
    server: endpoint,
    caPem: Buffer.from(ca, 'base64').toString('utf8'),
    ...(issuer === undefined ? {} : { issuer }),
    authenticationMode: described.accessConfig?.authenticationMode ?? 'CONFIG_MAP',
  };
}

async function findEksCluster(
  client: Client,
  { name, region }: { readonly name: string; readonly region: string },
): Promise<Cluster> {
  let cluster: Cluster | undefined;
  try {
    ({ cluster } = await client.send(new DescribeClusterCommand({ name })));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
  if (cluster !== undefined) return cluster;
  throw new CommandError({
    message: `There is no EKS cluster ${name} in ${region}.`,
    remedy:
      'Check --eks-region and --cluster-profile: `aws eks list-clusters` shows what there is.',
    exitCode: EXIT.failed,
  });
}

/** Names of all clusters of the account and region. */
export async function listEksClusters(client: Client): Promise<readonly string[]> {
  const names: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await client.send(
      new ListClustersCommand(nextToken === undefined ? {} : { nextToken }),
    );
    names.push(...(page.clusters ?? []));
    ({ nextToken } = page);
  } while (nextToken !== undefined);
  return names.sort();
}

/** Throws CommandError when the cluster takes no access entries. */
export function requireAccessEntries({ name, region, authenticationMode }: EksCluster): void {
  if (authenticationMode !== 'CONFIG_MAP') return;
  throw new CommandError({
    message: `The EKS cluster ${name} takes no access entries: its authentication mode is CONFIG_MAP.`,
    remedy: `Allow them (this cannot be undone), then repeat the command: aws eks update-cluster-config --region ${region} --name ${name} --access-config authenticationMode=API_AND_CONFIG_MAP`,
    exitCode: EXIT.failed,
  });
}

/** Makes the access entries that are missing, and puts right those whose group or user differs. */
export async function ensureAccessEntries(
  client: Client,
  clusterName: string,
  principalArns: readonly string[],
): Promise<readonly AccessEntryResult[]> {
  const results: AccessEntryResult[] = [];
  for (const principalArn of principalArns) {
    results.push({
      principalArn,
      result: await ensureEntry(client, { clusterName, principalArn }),
    });
  }
  return results;
}

async function ensureEntry(
  client: Client,
  key: { readonly clusterName: string; readonly principalArn: string },
): Promise<AccessEntryResult['result']> {
  const identity = { username: FUNCTIONS_USER, kubernetesGroups: [FUNCTIONS_USER] };
  try {
    await client.send(new CreateAccessEntryCommand({ ...key, ...identity, type: 'STANDARD' }));
    return 'created';
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  const { accessEntry } = await client.send(new DescribeAccessEntryCommand(key));
  const groups = accessEntry?.kubernetesGroups ?? [];
  const isSame =
    accessEntry?.username === FUNCTIONS_USER && groups.length === 1 && groups[0] === FUNCTIONS_USER;
  if (isSame) return 'present';
  await client.send(new UpdateAccessEntryCommand({ ...key, ...identity }));
  return 'updated';
}

/** The same by hand, for whoever may do it. */
export function accessEntryCommands(
  cluster: Pick<EksCluster, 'name' | 'region'>,
  principalArns: readonly string[],
): readonly string[] {
  return principalArns.map(
    (arn) =>
      `aws eks create-access-entry --region ${cluster.region} --cluster-name ${cluster.name} --principal-arn ${arn} --username ${FUNCTIONS_USER} --kubernetes-groups ${FUNCTIONS_USER}`,
  );
}
