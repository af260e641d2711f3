/**
 * Outputs of the deployed stack by name: the only thing that the CLI knows a deployment by.
 *
 * serverless.yml and infra/ declare them, `describe-stack.ts` reads them, a test holds the two together.
 * A missing one means that the stack is of another release; it is named to the user.
 */

/** Names of the outputs. */
export const STACK_OUTPUT_NAMES = [
  'Release',
  'EventsQueueUrl',
  'EventsQueueArn',
  'CredentialsQueueUrl',
  'CredentialsQueueArn',
  'ReconcileQueueUrl',
  'DelayQueueUrl',
  'EventsDeadLetterQueueUrl',
  'ReconcileDeadLetterQueueUrl',
  'DelayDeadLetterQueueUrl',
  'CredentialsDeadLetterQueueUrl',
  /** The key that tokens are sealed with. */
  'CredentialsKeyArn',
  'RegistryTableName',
  'ViewTableName',
  /** Roles of the functions that keep DaemonSets, with commas between: principals of EKS access entries. */
  'ClusterAccessRoleArns',
  /** Roles of those that connect to clusters only to ask their watchers, with commas between. */
  'ClusterRequestRoleArns',
  /** Path under which roles of watchers and renewers must be: the queue policies name it. */
  'SenderRolePath',
] as const;

/** Name of an output. */
export type StackOutputName = (typeof STACK_OUTPUT_NAMES)[number];

/** Outputs of a stack. */
export type StackOutputs = Readonly<Record<StackOutputName, string>>;
