/**
 * The access entries of EKS that let the functions into a cluster.
 *
 * One entry for each role of a function that connects, with one of two user names: what they may do is said by RBAC
 * in the cluster (infra/functions and its overlay for EKS), never by an access policy of EKS. A cluster of another
 * account needs nothing more. An entry shows its role's ARN, but EKS holds it by the role's unique id: when the stack
 * was removed and deployed again, it stands and lets no caller in. So one that is older than its role is made anew.
 */
import type { EKSClient } from '@aws-sdk/client-eks';
import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateAccessEntryCommand,
} from '@aws-sdk/client-eks';
import { GetRoleCommand, NoSuchEntityException, type IAMClient } from '@aws-sdk/client-iam';
import type { AccessEntryFact } from '../../../app/checks/needs.ts';
import { failure } from '../../process/exit-codes.ts';
import type { StackOutputs } from '../../reach/stack.ts';
import type { EksCluster } from './eks-cluster.ts';

export interface AccessEntryResult {
  readonly principalArn: string;
  /**
   * `replaced`: it was older than its role. `unverified`: it stands and looks right, but IAM did not say how old
   * the role is.
   */
  readonly result: 'created' | 'present' | 'updated' | 'replaced' | 'unverified' | 'planned';
}

/** Clients of the accounts: the cluster's for EKS, the stack's for IAM, in which the roles are. */
export interface AccessEntryClients {
  readonly eks: Pick<EKSClient, 'send'>;
  readonly iam: Pick<IAMClient, 'send'>;
}

/** Names of the functions in an EKS cluster, each a user and a group: of those that keep DaemonSets, and that only ask. */
export type FunctionsUser = 'rollcall-functions' | 'rollcall-requests';

export interface Principal {
  readonly arn: string;
  readonly user: FunctionsUser;
}

/** Makes the access entries that are missing, and puts right those that differ or have outlived their role. */
export async function ensureAccessEntries(
  clients: AccessEntryClients,
  clusterName: string,
  principals: readonly Principal[],
): Promise<readonly AccessEntryResult[]> {
  const results: AccessEntryResult[] = [];
  for (const principal of principals) {
    const result = await ensureEntry(clients, entryOf(clusterName, principal));
    results.push({ principalArn: principal.arn, result });
  }
  return results;
}

/** An entry as it is to be: one name as user and as group. */
type Entry = Readonly<
  Record<'clusterName' | 'principalArn' | 'username', string> & { kubernetesGroups: string[] }
>;

async function ensureEntry(
  clients: AccessEntryClients,
  entry: Entry,
): Promise<AccessEntryResult['result']> {
  const { eks } = clients;
  if (await createEntry(eks, entry)) return 'created';
  const { clusterName, principalArn } = entry;
  const standing = await standingOf(clients, entry);
  switch (standing) {
    case 'present':
    case 'unverified':
      return standing;
    case 'outlived':
      await eks.send(new DeleteAccessEntryCommand({ clusterName, principalArn }));
      if (await createEntry(eks, entry)) return 'replaced';
      throw failure(
        `EKS still holds the old access entry of ${principalArn}.`,
        'Wait a minute, then repeat the command.',
      );
    case 'differs':
      await eks.send(new UpdateAccessEntryCommand(entry));
      return 'updated';
  }
}

async function standingOf(
  { eks, iam }: AccessEntryClients,
  { clusterName, principalArn, username }: Entry,
): Promise<'present' | 'unverified' | 'differs' | 'outlived'> {
  const key = { clusterName, principalArn };
  const { accessEntry = {} } = await eks.send(new DescribeAccessEntryCommand(key));
  const age = compareAge(accessEntry.createdAt, await roleCreatedMs(iam, principalArn));
  if (age === 'older') return 'outlived';
  const { kubernetesGroups: groups = [] } = accessEntry;
  const isRight =
    accessEntry.username === username && groups.length === 1 && groups[0] === username;
  if (!isRight) return 'differs';
  return age === 'unknown' ? 'unverified' : 'present';
}

/** How the entries of these principals stand, and changes none. AWS's errors pass through, but for one that is not there. */
export async function examineAccessEntries(
  clients: AccessEntryClients,
  clusterName: string,
  principals: readonly Principal[],
): Promise<readonly AccessEntryFact[]> {
  const facts: AccessEntryFact[] = [];
  for (const { arn: principalArn, user } of principals) {
    const entry = entryOf(clusterName, { arn: principalArn, user });
    try {
      facts.push({ principalArn, standing: await standingOf(clients, entry) });
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      facts.push({ principalArn, standing: 'missing' });
    }
  }
  return facts;
}

function entryOf(clusterName: string, { arn: principalArn, user }: Principal): Entry {
  return { clusterName, principalArn, username: user, kubernetesGroups: [user] };
}

/** Whether an entry is older than its role, and so another one's. */
function compareAge(
  createdAt: Date | undefined,
  roleMs: number | undefined,
): 'older' | 'younger' | 'unknown' {
  if (createdAt === undefined || roleMs === undefined) return 'unknown';
  return createdAt.getTime() < roleMs ? 'older' : 'younger';
}

/** False where EKS has one of that role already. */
async function createEntry(eks: AccessEntryClients['eks'], entry: Entry): Promise<boolean> {
  try {
    await eks.send(new CreateAccessEntryCommand({ ...entry, type: 'STANDARD' }));
    return true;
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    return false;
  }
}

/** Refusals under which the age stays unknown: `cluster add` works without the right to read our roles. */
const UNREADABLE = ['AccessDenied', 'AccessDeniedException'];

/** Epoch milliseconds of the role; undefined when IAM does not say. */
async function roleCreatedMs(
  iam: AccessEntryClients['iam'],
  principalArn: string,
): Promise<number | undefined> {
  try {
    const RoleName = principalArn.slice(principalArn.lastIndexOf('/') + 1);
    const { Role: role } = await iam.send(new GetRoleCommand({ RoleName }));
    return role?.Arn === principalArn ? role.CreateDate?.getTime() : undefined;
  } catch (error) {
    const isUnreadable = error instanceof Error && UNREADABLE.includes(error.name);
    if (!isUnreadable && !(error instanceof NoSuchEntityException)) throw error;
    return undefined;
  }
}

export function commandsForEntries(
  cluster: Pick<EksCluster, 'name' | 'region'>,
  principals: readonly Principal[],
): readonly string[] {
  return principals.map(
    ({ arn, user }) =>
      `aws eks create-access-entry --region ${cluster.region} --cluster-name ${cluster.name} --principal-arn ${arn} --username ${user} --kubernetes-groups ${user}`,
  );
}

/** The roles of a deployment that connect to clusters: those that only ask have a name of their own. */
export function principalsOf(
  outputs: Pick<StackOutputs, 'ClusterAccessRoleArns' | 'ClusterRequestRoleArns'>,
): readonly Principal[] {
  const as = (user: FunctionsUser, arns: string): readonly Principal[] =>
    arns.split(',').map((arn) => ({ arn: arn.trim(), user }));
  return [
    ...as('rollcall-functions', outputs.ClusterAccessRoleArns),
    ...as('rollcall-requests', outputs.ClusterRequestRoleArns),
  ];
}

/** A note on entries whose age could not be compared; undefined when all were. */
export function unverifiedWarning(entries: readonly AccessEntryResult[]): string | undefined {
  const unverified = entries.filter(({ result }) => result === 'unverified');
  if (unverified.length === 0) return undefined;
  return `IAM does not say how old the functions’ roles are. If the stack was removed and deployed again since these access entries were made, they let no function in: delete them (aws eks delete-access-entry), then repeat the command: ${unverified.map(({ principalArn }) => principalArn).join(', ')}`;
}
