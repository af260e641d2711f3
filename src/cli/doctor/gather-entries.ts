/** Fact from AWS: whether EKS lets in every role of the functions that connects, and as whom (ADR 0042). */
import { IAMClient } from '@aws-sdk/client-iam';
import { EKSClient } from '@aws-sdk/client-eks';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import type { AccessEntryFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { examineAccessEntries, principalsOf } from '../cluster/add/access-entries.ts';
import type { Stack } from '../reach/stack.ts';

/** Asks EKS in the account of `profile`, or of the stack; IAM in that of the stack, where the roles are. */
export async function gatherAccessEntries(
  { stage, aws, outputs }: Pick<Stack, 'stage' | 'aws' | 'outputs'>,
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
  profile: string | undefined,
): Promise<Checked<readonly AccessEntryFact[]>> {
  if (authentication.kind !== 'eks') return unchecked('it is no cluster of EKS');
  if (stage === 'local') return unchecked('at stage local there is no EKS');
  const { clusterName, region } = authentication;
  const inCluster = { ...aws, region, ...defined({ profile }) };
  const eks = createAwsClient(EKSClient, CALL_LIMITS.command, inCluster);
  const iam = createAwsClient(IAMClient, CALL_LIMITS.command, { ...aws });
  try {
    const principals = principalsOf(outputs);
    return checked(await examineAccessEntries({ eks, iam }, clusterName, principals));
  } finally {
    eks.destroy();
    iam.destroy();
  }
}
