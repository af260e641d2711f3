/**
 * The AWS account in which a cluster is: clients under its profile, and what is asked there by hand.
 *
 * Rollcall's stack and a cluster may be in two accounts; the person at the terminal has a profile for each.
 * Nothing here is a right of the functions.
 */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EKSClient } from '@aws-sdk/client-eks';
import {
  GetOpenIDConnectProviderCommand,
  GetRoleCommand,
  IAMClient,
  NoSuchEntityException,
} from '@aws-sdk/client-iam';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CALL_LIMITS, createAwsClient } from '../../../adapters/aws/create-client.ts';
import { failure, usageError } from '../../process/exit-codes.ts';
import type { AwsClientConfig, ResolvedAwsCredentials } from '../../reach/stack.ts';
import { issuerName } from '../roles/roles.ts';

/** Clients of one account and region. */
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

/** A role as IAM knows it. */
export interface KnownRole {
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
 * Whether the account knows an issuer of tokens already, and takes its tokens for our audience. A provider that somebody
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
