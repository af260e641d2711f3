/** Whom AWS knows the command as: STS is asked, which needs no right. */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { createAwsClient } from '../../adapters/aws/create-client.ts';
import type { AwsClientConfig, Stack } from './stack.ts';

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
    if (arn === undefined) throw new Error('STS named nobody');
    return arn;
  } finally {
    client.destroy();
  }
}
