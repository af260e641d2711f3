/**
 * Deploys the roles of one cluster as a CloudFormation stack in the cluster's own account.
 *
 * Runs again without harm: what was made from the same template and parameters is only read (a tag keeps
 * their hash), what failed half-way is removed and made anew, what is being made is waited for. No role is
 * replaced by an update: its name stays, so its unique id does (S6).
 */
import { createHash } from 'node:crypto';
import type { CloudFormationClient, Stack } from '@aws-sdk/client-cloudformation';
import {
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { CommandError, EXIT, failure } from '../../process/exit-codes.ts';
import type { RolesParameters } from './roles.ts';
import { findStack } from '../../reach/describe-stack.ts';

export interface RolesDeployment {
  readonly client: Pick<CloudFormationClient, 'send'>;
  readonly stackName: string;
  /** Text of infra/cluster/roles.yml. */
  readonly template: string;
  readonly parameters: RolesParameters;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export interface DeployedRoles {
  readonly watcher: { readonly roleId: string; readonly roleArn: string };
  readonly renewer?: { readonly roleId: string; readonly roleArn: string };
}

const HASH_TAG = 'rollcall-inputs';
const POLL_MS = 3000;
const DEADLINE_MS = 600_000;
const DONE = new Set(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE']);
const SUCCEEDED = new Set(['CREATE_COMPLETE', 'UPDATE_COMPLETE']);
/** The first create failed: such a stack can only be deleted. */
const STILLBORN = new Set(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED']);

/** Deploys the stack if it has to be, and reads its outputs. Throws CommandError when it fails. */
export async function deployRoles(deployment: RolesDeployment): Promise<DeployedRoles> {
  const { client, stackName, say } = deployment;
  let stack = await waitUntilSettled(deployment);
  if (stack !== undefined && STILLBORN.has(stack.StackStatus ?? '')) {
    say(`removing the stack ${stackName}, whose creation failed`);
    await client.send(new DeleteStackCommand({ StackName: stackName }));
    stack = await waitUntilSettled(deployment);
  }
  const inputs = { ...inputsOf(deployment), StackName: stackName };
  if (stack === undefined) {
    say(`creating the stack ${stackName}`);
    await client.send(new CreateStackCommand(inputs));
  } else if (hashOf(stack) !== hashInputs(deployment) || !isSuccessful(stack)) {
    say(`updating the stack ${stackName}`);
    await client.send(new UpdateStackCommand(inputs));
  } else return rolesOf(stack, stackName);
  const done = await waitUntilSettled(deployment);
  if (done !== undefined && isSuccessful(done)) return rolesOf(done, stackName);
  throw await explainFailure(deployment, done?.StackStatus ?? 'gone');
}

/** The parameters that the stack was made with; empty when there is none. */
export async function readRolesParameters(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
): Promise<RolesParameters> {
  const stack = await findRolesStack(client, stackName);
  return Object.fromEntries(
    (stack?.Parameters ?? []).map(({ ParameterKey: key = '', ParameterValue: value = '' }) => [
      key,
      value,
    ]),
  );
}

async function findRolesStack(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
): Promise<Stack | undefined> {
  const stack = await findStack(client, stackName);
  return stack?.StackStatus === 'DELETE_COMPLETE' ? undefined : stack;
}

async function waitUntilSettled(deployment: RolesDeployment): Promise<Stack | undefined> {
  const { client, stackName, clock, signal } = deployment;
  const endMs = clock.monotonicMs() + DEADLINE_MS;
  for (;;) {
    const stack = await findRolesStack(client, stackName);
    const status = stack?.StackStatus ?? '';
    if (stack === undefined || DONE.has(status) || STILLBORN.has(status)) return stack;
    if (!status.endsWith('_IN_PROGRESS')) throw await explainFailure(deployment, status);
    if (signal.aborted || clock.monotonicMs() >= endMs) {
      throw new CommandError({
        message: `The stack ${stackName} is still ${status}.`,
        remedy: 'Repeat the command: it goes on from there.',
        exitCode: signal.aborted ? EXIT.interrupted : EXIT.timedOut,
      });
    }
    await new Promise<void>((resolve) => {
      clock.after(POLL_MS, resolve);
    });
  }
}

function isSuccessful(stack: Stack): boolean {
  return SUCCEEDED.has(stack.StackStatus ?? '');
}

function hashInputs({ template, parameters }: RolesDeployment): string {
  const text = JSON.stringify([template, Object.entries(parameters).sort()]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function hashOf(stack: Stack): string | undefined {
  return stack.Tags?.find(({ Key: key }) => key === HASH_TAG)?.Value;
}

function inputsOf(deployment: RolesDeployment) {
  return {
    TemplateBody: deployment.template,
    Parameters: Object.entries(deployment.parameters).map(([key, value]) => ({
      ParameterKey: key,
      ParameterValue: value,
    })),
    // Roles have names, so that a second run finds them.
    Capabilities: ['CAPABILITY_NAMED_IAM' as const],
    Tags: [
      { Key: HASH_TAG, Value: hashInputs(deployment) },
      { Key: 'rollcall-cluster', Value: deployment.parameters['ClusterId'] ?? '' },
    ],
  };
}

function rolesOf(stack: Stack, stackName: string): DeployedRoles {
  const outputs = new Map(
    (stack.Outputs ?? []).map(({ OutputKey: key, OutputValue: value }) => [key, value]),
  );
  const role = (part: string) => {
    const [roleId, roleArn] = [outputs.get(`${part}RoleId`), outputs.get(`${part}RoleArn`)];
    return roleId === undefined || roleArn === undefined ? undefined : { roleId, roleArn };
  };
  const [watcher, renewer] = [role('Watcher'), role('Renewer')];
  if (watcher === undefined) {
    throw failure(
      `The stack ${stackName} has no output WatcherRoleId.`,
      'It was made from another template: remove it, then repeat the command.',
    );
  }
  return { watcher, ...defined({ renewer }) };
}

async function explainFailure(
  { client, stackName }: RolesDeployment,
  status: string,
): Promise<CommandError> {
  const answer = await client.send(new DescribeStackEventsCommand({ StackName: stackName }));
  // Newest first: the first failure is the last in the list; what follows was cancelled because of it.
  const failed = (answer.StackEvents ?? []).findLast(({ ResourceStatus: one }) =>
    (one ?? '').endsWith('_FAILED'),
  );
  const reason = failed?.ResourceStatusReason ?? 'CloudFormation gives no reason';
  return failure(
    `The stack ${stackName} is ${status}: ${failed?.LogicalResourceId ?? 'it'}: ${reason}`,
    'Put that right, then repeat the command: it goes on from there.',
  );
}
