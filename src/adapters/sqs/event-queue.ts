/**
 * The ways in over SQS: the watcher's into events.fifo, and the renewer's.
 *
 * An event is encoded once (`freeze`); every try sends those bytes under that id, so that SQS itself
 * swallows a repeat for five minutes and `ingest` skips a later one by its position; beside it goes how
 * old it is by now. The client must not retry by itself (`CALL_LIMITS.watcher`): one send in flight is
 * the watcher's rule (design 2).
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { WatcherMessage } from '../../core/model/watcher-message.ts';
import type { CredentialQueue } from '../../ports/cluster/token-mint.ts';
import type { EventQueue, FrozenMessage, SendOutcome } from '../../ports/queues/queue.ts';
import { CUT_AGE_BYTES_MAX, cutAgeAttributes } from './cut-age.ts';
import { eventDeduplicationId, eventGroupId } from './queue-ids.ts';
import { trySend } from './send-failure.ts';
import { encodeCredentialMessage } from './schema/credential-message-schema.ts';
import { encodeWatcherMessage } from './schema/watcher-message-codec.ts';

/** The largest body that is sent, in bytes: what the queue takes (design 2), less the attribute beside it. */
export const EVENT_BODY_BYTES_MAX = 256 * 1024 - CUT_AGE_BYTES_MAX;

/** Of one send; after it the outcome is ambiguous. */
const SEND_TIMEOUT_MS = 10_000;
/** Of one of the renewer, with its repeats by the SDK. */
const CREDENTIAL_TIMEOUT_MS = 20_000;

function freeze(message: WatcherMessage): FrozenMessage {
  const body = encodeWatcherMessage(message);
  return { message, body, sizeBytes: Buffer.byteLength(body) };
}

/** The watcher's way into events.fifo. */
export function createEventQueue(options: {
  /** Made under `CALL_LIMITS.watcher`, one attempt, so that one send in flight holds. */
  readonly client: SQSClient;
  readonly queueUrl: string;
}): EventQueue {
  const send = async (frozen: FrozenMessage, cutAgeMs?: number): Promise<SendOutcome> => {
    if (frozen.sizeBytes > EVENT_BODY_BYTES_MAX) {
      return { kind: 'refused', message: `body of ${frozen.sizeBytes} bytes` };
    }
    const input = {
      QueueUrl: options.queueUrl,
      MessageBody: frozen.body,
      MessageGroupId: eventGroupId(frozen.message),
      MessageDeduplicationId: eventDeduplicationId(frozen.message),
      MessageAttributes: cutAgeAttributes(cutAgeMs),
    };
    return trySend(options.client, input, SEND_TIMEOUT_MS);
  };
  return { freeze, send };
}

/** The renewer's way to the functions: a standard queue, as a message that comes twice changes nothing. */
export function createCredentialQueue(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): CredentialQueue {
  const send: CredentialQueue['send'] = (message) => {
    const input = { QueueUrl: options.queueUrl, MessageBody: encodeCredentialMessage(message) };
    return trySend(options.client, input, CREDENTIAL_TIMEOUT_MS);
  };
  return { send };
}
