/**
 * CredentialQueue over SQS: one message for each renewal, on a standard queue.
 *
 * The SDK may repeat a send: a message that comes twice is older than itself, and changes nothing.
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { CredentialQueue } from '../../ports/cluster/token-mint.ts';
import { encodeCredentialMessage } from './schema/credential-message-schema.ts';
import { trySend } from './send-failure.ts';

/** Of one send, with its repeats. */
const SEND_TIMEOUT_MS = 20_000;

/** The renewer's way to the functions. */
export function createCredentialQueue(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): CredentialQueue {
  return {
    send: (message) => {
      const MessageBody = encodeCredentialMessage(message);
      return trySend(options.client, { QueueUrl: options.queueUrl, MessageBody }, SEND_TIMEOUT_MS);
    },
  };
}
