/**
 * The ways in over SQS: the watcher's into events.fifo, and the renewer's.
 *
 * An event is encoded once (`freeze`); every try sends those bytes under that id, so that SQS itself
 * swallows a repeat for five minutes and `ingest` skips a later one by its position; beside it goes how
 * old it is by now. The client must not retry by itself (`CALL_LIMITS.watcher`): one send in flight is
 * the watcher's rule (design 2).
 */
import {
  type SQSClient,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs';
import type { WatcherMessage } from '../../core/model/watcher-message.ts';
import type { CredentialQueue } from '../../ports/cluster/token-mint.ts';
import type { EventQueue, FrozenMessage, SendOutcome } from '../../ports/queues/queue.ts';
import { eventDeduplicationId, eventGroupId } from './queue-ids.ts';
import { encodeCredentialMessage } from './schema/credential-message-schema.ts';
import { encodeWatcherMessage } from './schema/watcher-message-codec.ts';
import { defined } from '@rollcall/base/defined.ts';
import { readRetryAfterMs } from '@rollcall/base/wait.ts';

/**
 * How old what a message says was when it was sent, in whole milliseconds (ADR 0079): an attribute, set anew at each
 * try, as a body may be taken an hour after it was frozen. SQS keeps the one of the try that it took.
 */
export const CUT_AGE_ATTRIBUTE = 'rollcall-cut-age-ms';

/** Bytes that the attribute takes from a message at most: SQS counts name, type and value (aws-rules 9). */
export const CUT_AGE_BYTES_MAX = 64;

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

/** The queue will never take this body. */
const BODY_ERRORS = new Set([
  'InvalidMessageContents',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'MessageTooLong',
  'BatchRequestTooLong',
]);

const THROTTLE_ERRORS = new Set([
  'RequestThrottled',
  'RequestThrottledException',
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'KmsThrottled',
  'OverLimit',
]);

/** No connection was made, or no name found, or no credential: nothing was sent. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const UNSENT_NAMES = new Set(['CredentialsProviderError', 'TokenProviderError']);

interface SdkError {
  readonly name: string;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

function unsent(error: SdkError, message: string): SendOutcome {
  const header = error.$response?.headers?.['retry-after'];
  const retryAfterMs = readRetryAfterMs({ header }, undefined);
  return { kind: 'unsent', message, ...defined({ retryAfterMs }) };
}

/** No answer came: what is known is only whether a request can have left. */
function classifyWithoutAnswer(error: SdkError): SendOutcome {
  const code = typeof error.code === 'string' ? error.code : '';
  const isUnsent = UNSENT_NAMES.has(error.name) || UNSENT_CODES.has(code);
  return { kind: isUnsent ? 'unsent' : 'ambiguous', message: code === '' ? error.name : code };
}

/** By error name, code and HTTP status, never by text; `refused` only where the body itself is the reason. */
export function classifySendFailure(failure: unknown): SendOutcome {
  if (!(failure instanceof Error)) return { kind: 'ambiguous', message: 'unknown failure' };
  const error = failure as Error & SdkError;
  const status = error.$metadata?.httpStatusCode;
  if (status === undefined) return classifyWithoutAnswer(error);
  const message = `HTTP ${status} ${error.name}`;
  if (BODY_ERRORS.has(error.name) || status === 413) return { kind: 'refused', message };
  const isClientError = status >= 400 && status < 500 && status !== 408;
  if (isClientError || THROTTLE_ERRORS.has(error.name)) return unsent(error, message);
  return { kind: 'ambiguous', message };
}

/** Sends one message once, within a time; what the SDK throws is an outcome. */
async function trySend(
  client: SQSClient,
  message: SendMessageCommandInput,
  timeoutMs: number,
): Promise<SendOutcome> {
  try {
    const abortSignal = AbortSignal.timeout(timeoutMs);
    await client.send(new SendMessageCommand(message), { abortSignal });
    return { kind: 'accepted' };
  } catch (error) {
    return classifySendFailure(error);
  }
}

/** Older than anything a queue keeps: what says more is as old as that. */
const CUT_AGE_MS_MAX = 30 * 24 * 3_600_000;
const WHOLE_NUMBER = /^\d{1,15}$/;

/** The attributes of one try; none without an age. `ageMs` is bounded, never negative. */
export function cutAgeAttributes(
  ageMs: number | undefined,
): Record<string, { readonly DataType: string; readonly StringValue: string }> {
  if (ageMs === undefined) return {};
  const boundedMs = Math.min(Math.max(0, Math.ceil(ageMs)), CUT_AGE_MS_MAX);
  return { [CUT_AGE_ATTRIBUTE]: { DataType: 'Number', StringValue: String(boundedMs) } };
}

/** The age of what a received message says, milliseconds; what cannot be read counts as missing. */
export function readCutAgeMs(value: string | undefined): number | undefined {
  if (value === undefined || !WHOLE_NUMBER.test(value)) return undefined;
  return Math.min(Number(value), CUT_AGE_MS_MAX);
}
