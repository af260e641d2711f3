/**
 * CredentialQueue over SQS: one message for each renewal, on a standard queue.
 *
 * The SDK may repeat a send: a message that comes twice is older than itself, and changes nothing.
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { CredentialQueue } from '../../ports/cluster/token-mint.ts';
import { encodeCredentialMessage } from './schema/credential-message-schema.ts';
import { trySend } from './send-failure.ts';

/** Options of a credential queue. */
export interface CredentialQueueOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** Per send, with its repeats; default 20,000. */
  readonly sendTimeoutMs?: number;
}

const DEFAULT_SEND_TIMEOUT_MS = 20_000;

/** The renewer's way to the functions. */
export function createCredentialQueue(options: CredentialQueueOptions): CredentialQueue {
  const { client, queueUrl, sendTimeoutMs = DEFAULT_SEND_TIMEOUT_MS } = options;
  return {
    send: (message) => {
      const MessageBody = encodeCredentialMessage(message);
      return trySend(client, { QueueUrl: queueUrl, MessageBody }, sendTimeoutMs);
    },
  };
}
