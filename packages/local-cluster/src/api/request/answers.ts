/** Builds ApiAnswers: an object or a Status with the HTTP code that belongs to it. */
import type { JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiAnswer, Status } from './api-request.ts';
import { isStatus } from './statuses.ts';

/** What travels beside the body. */
export interface AnswerExtras {
  /** 200 unless told. */
  readonly status?: number;
  readonly warnings?: readonly string[];
}

/** An object; a Failure that a renderer returned keeps its own code. */
export function answerWith(
  body: JsonObject,
  { status = 200, warnings = [] }: AnswerExtras = {},
): ApiAnswer {
  if (isStatus(body) && body.status === 'Failure') return answerStatus(body, warnings);
  return { kind: 'object', status, body, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** A refusal, with Retry-After where its details say so. */
export function answerStatus(status: Status, warnings: readonly string[] = []): ApiAnswer {
  const retryAfterSeconds = isJsonObject(status.details)
    ? status.details.retryAfterSeconds
    : undefined;
  return {
    kind: 'object',
    status: status.code,
    body: status,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
  };
}
