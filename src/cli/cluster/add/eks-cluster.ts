/**
 * An EKS cluster as AWS describes it, and whether the functions can reach it and be let in.
 *
 * Reads only; the entries that let them in: access-entries.ts.
 */
import type { Cluster, EKSClient } from '@aws-sdk/client-eks';
import {
  DescribeClusterCommand,
  ListClustersCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-eks';
import { defined } from '@rollcall/base/defined.ts';
import { failure } from '../../process/exit-codes.ts';

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
 * missing public endpoint refuses nobody, it lets time-outs happen. Undefined when anybody may connect.
 */
export function reachWarning({ name, publicRanges }: EksCluster): string | undefined {
  if (publicRanges === undefined || publicRanges.includes(EVERYWHERE)) return undefined;
  if (publicRanges.length === 0) {
    return `${name} has no public endpoint: the functions reach it only from a VPC with a route to it (subnetIds, docs/clusters.md), and with --private-range`;
  }
  return `${name} lets in ${publicRanges.join(', ')} alone: functions outside a VPC have no fixed address. Attach them to a VPC whose NAT addresses are on that list (subnetIds, docs/clusters.md), or open the list`;
}
