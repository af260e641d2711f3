/**
 * A deployed stack, opened: its outputs, its tables and queues, and what commands share.
 *
 * Made by open-stack.ts; tests make one over stores of their own. The opener closes it.
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { CredentialStore } from '../../ports/stores/credential-store.ts';
import type { FleetRolloutStore, FleetStore } from '../../ports/stores/fleet-rollout-store.ts';
import type { FreezeStore, FleetMirrorStore } from '../../ports/stores/freeze-store.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';

/**
 * Names of the stack's outputs: the only thing that the CLI knows a deployment by. serverless.yml and infra/ declare
 * them, a test holds the two together.
 */
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
  /** Rules of EventBridge that call the functions of these names. */
  'FleetScheduleName',
  'ResyncScheduleName',
  /** Path under which roles of watchers and renewers must be: the queue policies name it. */
  'SenderRolePath',
] as const;

/** The value of an output that a stack inside `npm start` has no such thing for. */
export const NOT_LOCAL = 'none-in-a-local-stack';

/** Name of an output. */
export type StackOutputName = (typeof STACK_OUTPUT_NAMES)[number];

/** Outputs of a stack. */
export type StackOutputs = Readonly<Record<StackOutputName, string>>;

/** With which configuration AWS clients of this stack are made. */
export interface AwsClientConfig {
  readonly region: string;
  readonly profile?: string;
}

/** AWS credentials, resolved. */
export interface ResolvedAwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** One deployment of Rollcall. */
export interface Stack {
  readonly stage: string;
  /** `rollcall-<stage>`. */
  readonly name: string;
  readonly outputs: StackOutputs;
  /** As the Leases of its clusters name it (ADR 0024); absent: its queue has no address that tells. */
  readonly installation?: string;
  readonly registry: RegistryStore;
  readonly freezes: FreezeStore;
  /** Where fleets are shown as objects. */
  readonly mirrors: FleetMirrorStore;
  readonly view: ViewStore;
  readonly fleets: FleetStore;
  readonly rollouts: FleetRolloutStore;
  /** Sealed tokens; no command opens them. */
  readonly credentials: CredentialStore;
  readonly sqs: SQSClient;
  /** Hints into the stack's reconcile queue: for looks that no watcher asks for. */
  readonly hints: Pick<HintQueue, 'sendHints'>;
  /** For clients that a command makes for itself (EKS, IAM, KMS): `createAwsClient(EKSClient, …, { ...stack.aws })`. */
  readonly aws: AwsClientConfig;
  /** Credentials of the user; rejects when there are none. */
  awsCredentials(): Promise<ResolvedAwsCredentials>;
  /** The ARN that AWS knows them by. Rejects when STS does not answer. */
  callerArn(): Promise<string>;
  /** Reaches registered clusters with what there is here: the person's AWS identity, what is registered; no bound token is opened. */
  openConnector(): ClusterConnector;
  readonly clock: Clock;
  readonly random: Random;
  /** Lets go of connections. */
  close(): void;
}
