/**
 * An EKS cluster as AWS describes it, and whether the functions can reach it and be let in.
 *
 * Reads only; the entries that let them in: access-entries.ts.
 */
import type { Cluster } from '@aws-sdk/client-eks';
import {
  DescribeClusterCommand,
  ListClustersCommand,
  ResourceNotFoundException,
  EKSClient,
} from '@aws-sdk/client-eks';
import { defined } from '@rollcall/base/defined.ts';
import { failure, usageError } from '../../process/exit-codes.ts';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  GetOpenIDConnectProviderCommand,
  GetRoleCommand,
  IAMClient,
  NoSuchEntityException,
} from '@aws-sdk/client-iam';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CALL_LIMITS, createAwsClient } from '../../../adapters/aws/create-client.ts';
import type { AwsClientConfig, ResolvedAwsCredentials } from '../../reach/stack.ts';
import { issuerName } from '../roles/roles.ts';

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
  /** Address ranges that may reach the public endpoint; empty: there is none. Absent where AWS does not say. */
  readonly publicRanges?: readonly string[];
}

type Client = Pick<EKSClient, 'send'>;

const EVERYWHERE = '0.0.0.0/0';

/** Asks AWS for a cluster. Throws CommandError when there is none, or it is not usable yet. */
export async function describeEksCluster(
  client: Client,
  which: { readonly name: string; readonly region: string },
): Promise<EksCluster> {
  const { name, region } = which;
  const { arn, endpoint, status, identity, ...described } = await findEksCluster(client, which);
  const ca = described.certificateAuthority?.data;
  if (arn === undefined || endpoint === undefined || ca === undefined) {
    throw failure(
      `The EKS cluster ${name} has no endpoint yet: it is ${status ?? 'of unknown status'}.`,
      'Wait until `aws eks wait cluster-active` ends, then repeat the command.',
    );
  }
  const issuer = identity?.oidc?.issuer;
  const publicRanges = publicRangesOf(described.resourcesVpcConfig);
  return {
    name,
    region,
    arn,
    server: endpoint,
    caPem: Buffer.from(ca, 'base64').toString('utf8'),
    authenticationMode: described.accessConfig?.authenticationMode ?? 'CONFIG_MAP',
    ...defined({ issuer, publicRanges }),
  };
}

function publicRangesOf(network: Cluster['resourcesVpcConfig']): readonly string[] | undefined {
  if (network?.endpointPublicAccess === undefined) return undefined;
  // AWS's own default, where it names none.
  return network.endpointPublicAccess ? (network.publicAccessCidrs ?? [EVERYWHERE]) : [];
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
  throw failure(
    `There is no EKS cluster ${name} in ${region}.`,
    'Check --eks-region and --cluster-profile: `aws eks list-clusters` shows what there is.',
  );
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
  throw failure(
    `The EKS cluster ${name} takes no access entries: its authentication mode is CONFIG_MAP.`,
    `Allow them (this cannot be undone), then repeat the command: aws eks update-cluster-config --region ${region} --name ${name} --access-config authenticationMode=API_AND_CONFIG_MAP`,
  );
}

/**
 * Why functions may not get through to the endpoint, which would end in `silent-api-servers`: an address list or a
 * missing public endpoint refuses no caller, it lets time-outs happen. Undefined when any address may connect.
 */
export function reachWarning({ name, publicRanges }: EksCluster): string | undefined {
  if (publicRanges === undefined || publicRanges.includes(EVERYWHERE)) return undefined;
  if (publicRanges.length === 0) {
    return `${name} has no public endpoint: the functions reach it only from a VPC with a route to it (subnetIds, docs/install.md), and with --private-range`;
  }
  return `${name} lets in ${publicRanges.join(', ')} alone: functions outside a VPC have no fixed address. Attach them to a VPC whose NAT addresses are on that list (subnetIds, docs/install.md), or open the list`;
}

export interface ClusterAccount {
  readonly region: string;
  readonly cloudFormation: Pick<CloudFormationClient, 'send'>;
  readonly eks: Pick<EKSClient, 'send'>;
  readonly iam: Pick<IAMClient, 'send'>;
  readonly sts: Pick<STSClient, 'send'>;
  awsCredentials(): Promise<ResolvedAwsCredentials>;
  close(): void;
}

/** Opens the clients; nothing is asked yet. */
export function openClusterAccount(config: AwsClientConfig): ClusterAccount {
  const cloudFormation = createAwsClient(CloudFormationClient, CALL_LIMITS.command, { ...config });
  const eks = createAwsClient(EKSClient, CALL_LIMITS.command, { ...config });
  const iam = createAwsClient(IAMClient, CALL_LIMITS.command, { ...config });
  const sts = createAwsClient(STSClient, CALL_LIMITS.command, { ...config });
  return {
    region: config.region,
    cloudFormation,
    eks,
    iam,
    sts,
    awsCredentials: () => sts.config.credentials(),
    close: () => {
      for (const client of [cloudFormation, eks, iam, sts]) client.destroy();
    },
  };
}

interface KnownRole {
  readonly roleId: string;
  readonly roleArn: string;
}

const ROLE_ARN = /^arn:[a-z-]+:iam::\d{12}:role\/(?:[\w+=,.@-]+\/)*([\w+=,.@-]{1,64})$/;

/** Looks a role up by its ARN. Throws CommandError when it is none, or not there. */
export async function lookUpRole(
  { iam }: Pick<ClusterAccount, 'iam'>,
  roleArn: string,
): Promise<KnownRole> {
  const [, name] = ROLE_ARN.exec(roleArn) ?? [];
  if (name === undefined) {
    throw usageError(
      `${roleArn} is not the ARN of an IAM role.`,
      'Pass e.g. arn:aws:iam::111122223333:role/rollcall/prod/NAME.',
    );
  }
  try {
    const { Role: role } = await iam.send(new GetRoleCommand({ RoleName: name }));
    if (role?.RoleId !== undefined && role.Arn === roleArn) {
      return { roleId: role.RoleId, roleArn };
    }
  } catch (error) {
    if (!(error instanceof NoSuchEntityException)) throw error;
  }
  throw failure(
    `There is no role ${roleArn} in the account that was asked.`,
    'Pass --cluster-profile with a profile of the account in which the role is.',
  );
}

/**
 * Whether the account knows an issuer of tokens already, and takes its tokens for our audience. A provider that a user
 * made for another audience stays as it is: AWS would answer the watcher with InvalidIdentityToken (F16 e). Throws
 * CommandError then.
 */
export async function findOidcProvider(
  { iam, sts }: Pick<ClusterAccount, 'iam' | 'sts'>,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Promise<'missing' | 'present'> {
  const { Account: account = '', Arn: caller = '' } = await sts.send(
    new GetCallerIdentityCommand({}),
  );
  const partition = caller.split(':')[1] ?? 'aws';
  const arn = `arn:${partition}:iam::${account}:oidc-provider/${issuerName(issuer)}`;
  const audiences = await audiencesOf(iam, arn);
  if (audiences === undefined) return 'missing';
  if (audiences.includes(audience)) return 'present';
  throw failure(
    `The account knows the issuer ${issuerName(issuer)}, but not for the audience ${audience}: AWS would refuse the cluster’s tokens (InvalidIdentityToken).`,
    `aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn ${arn} --client-id ${audience}, then repeat the command.`,
  );
}

async function audiencesOf(
  iam: ClusterAccount['iam'],
  OpenIDConnectProviderArn: string,
): Promise<readonly string[] | undefined> {
  try {
    const command = new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn });
    const { ClientIDList = [] } = await iam.send(command);
    return ClientIDList;
  } catch (error) {
    if (error instanceof NoSuchEntityException) return undefined;
    throw error;
  }
}
