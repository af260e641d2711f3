/**
 * From an SDK error to a SendOutcome: certainly not accepted, perhaps accepted, or never.
 *
 * By error name, code and HTTP status, never by message text. `refused` only where the body itself
 * is the reason: a missing right or queue is repaired by an operator, and the same body goes then.
 */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSClient, SendMessageCommandInput } from '@aws-sdk/client-sqs';
import { defined } from '@rollcall/base/defined.ts';
import { readRetryAfterMs } from '@rollcall/base/wait.ts';
import type { SendOutcome } from '../../ports/queues/queue.ts';

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
export async function trySend(
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
