/**
 * Opens the stack `rollcall-<stage>` as the person at the terminal: finds it, reads its outputs, makes
 * clients and stores.
 *
 * Credentials, region and endpoints are the AWS SDK's business: environment, profiles, AWS_ENDPOINT_URL.
 * Only a missing region is said here, because the SDK would fail in its own words at the first request.
 */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import { createDocumentClient } from '../../adapters/aws/document-client.ts';
import { createDynamoCredentialStore } from '../../adapters/dynamodb/single-item-stores.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../../adapters/dynamodb/fleet-stores.ts';
import { createDynamoFleetMirrorStore } from '../../adapters/dynamodb/single-item-stores.ts';
import { createDynamoFreezeStore } from '../../adapters/dynamodb/single-item-stores.ts';
import { createDynamoRegistryStore } from '../../adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../../adapters/dynamodb/view-store.ts';
import { HttpsClusterConnector } from '../../adapters/kubernetes/api/cluster-connector.ts';
import { FLEET_REQUESTS } from '../../adapters/kubernetes/api/manifest-apply.ts';
import { egressPolicy } from '../../../functions/egress-policy.ts';
import { createHintQueue } from '../../adapters/sqs/hint-queue.ts';
import { installationOf } from '../../core/may-act/installation.ts';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { usageError } from '../process/exit-codes.ts';
import { profileInUse, requireProfile } from './aws-profiles.ts';
import { describeStack, readStackOutputs } from './describe-stack.ts';
import type { AwsClientConfig, Stack, StackOutputs } from './stack.ts';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

interface OpenStackOptions {
  readonly stage: string;
  readonly region?: string;
  readonly profile?: string;
  /** A file with the outputs; CloudFormation is not asked then. */
  readonly stackOutputs?: string;
  /** Where AWS_DEFAULT_REGION is looked for, which the SDK does not know. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** Opens a stack. Throws CommandError; AWS's own errors pass through. */
export async function openStack(options: OpenStackOptions): Promise<Stack> {
  const { stage, stackOutputs } = options;
  const name = `rollcall-${stage}`;
  const aws = await resolveAwsConfig(options);
  const outputs =
    stackOutputs === undefined
      ? await askCloudFormation(aws, { stackName: name, stage, region: aws.region })
      : await readStackOutputs(stackOutputs);
  // Of an npm start, the file for a second terminal says it.
  const installation =
    options.environment['ROLLCALL_INSTALLATION'] ?? installationOf(outputs.EventsQueueUrl);
  return composeStack({ stage, name, aws, outputs, ...defined({ installation }) });
}

async function askCloudFormation(
  aws: AwsClientConfig,
  which: Parameters<typeof describeStack>[1],
): Promise<StackOutputs> {
  const client = createAwsClient(CloudFormationClient, CALL_LIMITS.command, { ...aws });
  try {
    return await describeStack(client, which);
  } finally {
    client.destroy();
  }
}

function composeStack(
  parts: Pick<Stack, 'stage' | 'name' | 'aws' | 'outputs' | 'installation'>,
): Stack {
  const { aws, outputs } = parts;
  const clock = createSystemClock();
  const random = createSystemRandom();
  const client = createDocumentClient({ ...aws }, CALL_LIMITS.command);
  const sqs = createAwsClient(SQSClient, CALL_LIMITS.command, { ...aws });
  const ofRegistry = { client, random, tableName: outputs.RegistryTableName };
  return {
    ...parts,
    clock,
    random,
    registry: createDynamoRegistryStore(ofRegistry),
    fleets: createDynamoFleetStore(ofRegistry),
    rollouts: createDynamoFleetRolloutStore(ofRegistry),
    freezes: createDynamoFreezeStore(ofRegistry),
    mirrors: createDynamoFleetMirrorStore(ofRegistry),
    view: createDynamoViewStore({ client, random, tableName: outputs.ViewTableName }),
    credentials: createDynamoCredentialStore(ofRegistry),
    sqs,
    hints: createHintQueue({
      client: sqs,
      clock,
      reconcileQueueUrl: outputs.ReconcileQueueUrl,
      delayQueueUrl: outputs.DelayQueueUrl,
    }),
    awsCredentials: () => sqs.config.credentials(),
    callerArn: () => askCallerArn(aws, () => sqs.config.credentials()),
    openConnector: () =>
      new HttpsClusterConnector({
        clock,
        awsCredentials: () => sqs.config.credentials(),
        egress: egressPolicy({ ROLLCALL_STAGE: parts.stage }),
        fleetRequests: FLEET_REQUESTS,
      }),
    close: () => {
      client.destroy();
      sqs.destroy();
    },
  };
}

/** Region and profile, as given or as the SDK finds them. Throws CommandError when one of them is not there. */
export async function resolveAwsConfig(
  options: Pick<OpenStackOptions, 'region' | 'profile' | 'environment'>,
): Promise<AwsClientConfig> {
  const { profile, environment } = options;
  const inUse = profileInUse(profile, environment);
  if (inUse !== undefined) requireProfile(inUse, environment);
  const withProfile = profile === undefined ? {} : { profile };
  if (options.region !== undefined) return { region: options.region, ...withProfile };
  const probe = createAwsClient(CloudFormationClient, CALL_LIMITS.command, withProfile);
  try {
    return { region: await probe.config.region(), ...withProfile };
  } catch (error) {
    const region = environment['AWS_DEFAULT_REGION'] ?? '';
    if (region !== '') return { region, ...withProfile };
    throw usageError(
      'No AWS region is chosen.',
      'Pass --region, or set AWS_REGION, or a region in the profile.',
      error,
    );
  } finally {
    probe.destroy();
  }
}

/** Asked before a freeze in the worst hour: one attempt, and short. */
const LIMITS = { connectionTimeoutMs: 1000, requestTimeoutMs: 1900, attemptsMax: 1 };

/** The caller's ARN. Rejects when STS cannot be asked. */
export async function askCallerArn(
  aws: AwsClientConfig,
  credentials: Stack['awsCredentials'],
): Promise<string> {
  const client = createAwsClient(STSClient, LIMITS, { ...aws, credentials });
  try {
    const { Arn: arn } = await client.send(new GetCallerIdentityCommand({}));
    if (arn === undefined) throw new Error('STS named no identity');
    return arn;
  } finally {
    client.destroy();
  }
}
